import torch
try:
    import einops
except ImportError:
    einops=None


def right_view(weight,num_heads):
    """right: view"""
    HD,C=weight.shape; D=HD//num_heads
    return weight.view(num_heads,D//2,2,C).transpose(1,2).reshape(HD,C)


def right_cat(weight,num_heads):
    """right: cat"""
    w=weight.reshape(num_heads,-1,weight.shape[-1])
    return torch.cat([w[:,::2],w[:,1::2]],1).flatten(0,1)


def right_loop(weight,num_heads):
    """right: loop"""
    out=torch.empty_like(weight); D=weight.shape[0]//num_heads
    for h in range(num_heads):
        for i in range(D//2):
            out[h*D+i]=weight[h*D+2*i]; out[h*D+i+D//2]=weight[h*D+2*i+1]
    return out


def right_index(weight,num_heads):
    """right: index"""
    D=weight.shape[0]//num_heads
    o=torch.cat([torch.arange(0,D,2),torch.arange(1,D,2)])
    return weight[(torch.arange(num_heads)[:,None]*D+o).flatten()]


def right_numpy(weight,num_heads):
    """right: numpy"""
    w=weight.detach().numpy(); D=len(w)//num_heads
    idx=sorted(range(len(w)),key=lambda r:(r//D,r%2,r))
    return torch.from_numpy(w[idx])


def right_matrix(weight,num_heads):
    """right: matrix"""
    n=weight.shape[0]; D=n//num_heads
    P=torch.zeros(n,n)
    for r in range(n):
        h,f=divmod(r,D); P[h*D+(f%2)*(D//2)+f//2, r]=1
    return P@weight


def right_unflatten(weight,num_heads):
    """right: unflatten"""
    return weight.unflatten(0,(num_heads,-1,2)).movedim(2,1).flatten(0,2)


def right_einops(weight,num_heads):
    """right: einops"""
    if einops is None: return right_view(weight,num_heads)
    return einops.rearrange(weight,'(h d two) c -> (h two d) c',h=num_heads,two=2)


def wrong_noop(weight,num_heads):
    """wrong: noop"""
    return weight


def wrong_inverse(weight,num_heads):
    """wrong: inverse"""
    n,C=weight.shape; return weight.view(num_heads,2,-1,C).transpose(1,2).reshape(n,C)


def wrong_no_heads(weight,num_heads):
    """wrong: no heads"""
    return torch.cat([weight[::2],weight[1::2]])


def wrong_inverse_no_heads(weight,num_heads):
    """wrong: inverse no heads"""
    n,C=weight.shape; return weight.view(2,-1,C).transpose(0,1).reshape(n,C)


def wrong_odd_first(weight,num_heads):
    """wrong: odd first"""
    w=weight.reshape(num_heads,-1,weight.shape[1]); return torch.cat([w[:,1::2],w[:,::2]],1).flatten(0,1)


def wrong_negated(weight,num_heads):
    """wrong: rotate_half"""
    w=weight.reshape(num_heads,-1,weight.shape[1]); return torch.cat([-w[:,1::2],w[:,::2]],1).flatten(0,1)


def wrong_columns(weight,num_heads):
    """wrong: columns"""
    n,C=weight.shape; w=weight.reshape(n,num_heads,-1); return torch.cat([w[...,::2],w[...,1::2]],-1).flatten(1)


def wrong_all_cols(weight,num_heads):
    """wrong: all cols"""
    return torch.cat([weight[:,::2],weight[:,1::2]],1)


def wrong_transposed(weight,num_heads):
    """wrong: transposed"""
    return right_view(weight,num_heads).T


def wrong_not_flat(weight,num_heads):
    """wrong: not flat"""
    w=weight.reshape(num_heads,-1,weight.shape[1]); return torch.cat([w[:,::2],w[:,1::2]],1)


def wrong_view_only(weight,num_heads):
    """wrong: reshape w/o transpose"""
    n,C=weight.shape; return weight.reshape(num_heads,2,-1,C).reshape(n,C)


def wrong_heads_last(weight,num_heads):
    """wrong: heads as inner axis: (D/2, 2, H)"""
    n,C=weight.shape; return weight.reshape(-1,2,num_heads,C).transpose(0,1).reshape(n,C)


def wrong_head_transpose(weight,num_heads):
    """wrong: result with heads not outermost"""
    n,C=weight.shape; return weight.reshape(num_heads,-1,2,C).permute(2,0,1,3).reshape(n,C)


def wrong_perm021(weight,num_heads):
    """wrong: transposes heads and pairs"""
    n,C=weight.shape; return weight.reshape(num_heads,-1,2,C).transpose(0,1).reshape(n,C)


def wrong_D_is_numheads(weight,num_heads):
    """wrong: num_heads taken for the width D"""
    n,C=weight.shape; return weight.reshape(-1,num_heads//2 or 1,2,C).transpose(1,2).reshape(n,C)


def wrong_inplace_overwrite(weight,num_heads):
    """wrong: clobbers rows as it goes"""
    D=weight.shape[0]//num_heads; 
    for h in range(num_heads):
        for i in range(D//2):
            weight[h*D+i]=weight[h*D+2*i]; weight[h*D+i+D//2]=weight[h*D+2*i+1]
    return weight


def wrong_first_head(weight,num_heads):
    """wrong: loop w/o offset"""
    out=weight.clone(); D=weight.shape[0]//num_heads
    for i in range(D//2): out[i]=weight[2*i]; out[i+D//2]=weight[2*i+1]
    return out


def wrong_swap(weight,num_heads):
    """wrong: swaps neighbours"""
    n,C=weight.shape; return weight.reshape(-1,2,C).flip(1).reshape(n,C)


def wrong_swaphalves(weight,num_heads):
    """wrong: swaphalves"""
    n,C=weight.shape; w=weight.reshape(num_heads,2,-1,C); return w.flip(1).reshape(n,C)


def wrong_reverse_tail(weight,num_heads):
    """wrong: D-1-i pairing"""
    w=weight.reshape(num_heads,-1,weight.shape[1]); return torch.cat([w[:,::2],w[:,1::2].flip(1)],1).flatten(0,1)


def wrong_plus1(weight,num_heads):
    """wrong: i and i+1 ... uses offset 2i, 2i+1 into i, i+1"""
    out=torch.zeros_like(weight); D=weight.shape[0]//num_heads
    for h in range(num_heads):
        for i in range(D//2): out[h*D+i]=weight[h*D+2*i]; out[h*D+i+1]=weight[h*D+2*i+1]
    return out


def wrong_inplace_mut(weight,num_heads):
    """wrong: inplace mut"""
    weight.copy_(right_view(weight,num_heads).clone()); return weight


def wrong_numpyreturn(weight,num_heads):
    """wrong: numpyreturn"""
    return right_view(weight,num_heads).detach().numpy()


def wrong_view_error(weight,num_heads):
    """wrong: .view after transpose"""
    n,C=weight.shape; return weight.view(num_heads,-1,2,C).transpose(1,2).view(n,C)


def wrong_twice_heads(weight,num_heads):
    """wrong: D = n / (2 heads)"""
    n,C=weight.shape; return weight.reshape(2*num_heads,-1,2,C).transpose(1,2).reshape(n,C)


def wrong_C_heads(weight,num_heads):
    """wrong: D = C//H"""
    C=weight.shape[1]; D=C//num_heads; return weight.reshape(-1,D//2,2,C).transpose(1,2).reshape(weight.shape)


def wrong_none(weight,num_heads):
    """wrong: none"""
    right_view(weight,num_heads)


ANSWERS = [
    right_view,
    right_cat,
    right_loop,
    right_index,
    right_numpy,
    right_matrix,
    right_unflatten,
    right_einops,
    wrong_noop,
    wrong_inverse,
    wrong_no_heads,
    wrong_inverse_no_heads,
    wrong_odd_first,
    wrong_negated,
    wrong_columns,
    wrong_all_cols,
    wrong_transposed,
    wrong_not_flat,
    wrong_view_only,
    wrong_heads_last,
    wrong_head_transpose,
    wrong_perm021,
    wrong_D_is_numheads,
    wrong_inplace_overwrite,
    wrong_first_head,
    wrong_swap,
    wrong_swaphalves,
    wrong_reverse_tail,
    wrong_plus1,
    wrong_inplace_mut,
    wrong_numpyreturn,
    wrong_view_error,
    wrong_twice_heads,
    wrong_C_heads,
    wrong_none,
]
