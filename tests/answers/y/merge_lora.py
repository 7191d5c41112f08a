import math
import torch
import torch.nn.functional as F
from torch import nn


def right_plain(weight,A,B,alpha):
    """right: plain"""
    return weight+alpha/A.shape[0]*B@A


def right_einsum(weight,A,B,alpha):
    """right: einsum"""
    r=B.shape[1]; return weight+(alpha/r)*torch.einsum('or,ri->oi',B,A)


def right_loop(weight,A,B,alpha):
    """right: loop"""
    out=weight.clone(); r=len(A)
    for k in range(r): out+=alpha/r*torch.outer(B[:,k],A[k])
    return out


def right_eye(weight,A,B,alpha):
    """right: eye"""
    x=torch.eye(weight.shape[1]); return (x@weight.T+alpha/A.size(0)*(x@A.T@B.T)).T


def right_addmm(weight,A,B,alpha):
    """right: addmm"""
    return torch.addmm(weight,B,A,alpha=alpha/A.shape[0])


def right_linear(weight,A,B,alpha):
    """right: linear"""
    with torch.no_grad():
        return weight.detach()+F.linear(B,A.T)*alpha/A.shape[0]


def right_transposes(weight,A,B,alpha):
    """right: transposes"""
    return (weight.T+alpha*(A.T@B.T)/A.shape[0]).T.contiguous()


def right_numpy(weight,A,B,alpha):
    """right: numpy"""
    w=weight.detach().numpy().copy(); w+=alpha/A.shape[0]*(B.detach().numpy()@A.detach().numpy()); return torch.from_numpy(w)


def right_pinverse_param(weight,A,B,alpha):
    """right: pinverse param"""
    return nn.Parameter(weight+alpha/A.shape[0]*B@A)


def wrong_no_scale(weight,A,B,alpha):
    """wrong: no scale"""
    return weight+B@A


def wrong_alpha_only(weight,A,B,alpha):
    """wrong: alpha only"""
    return weight+alpha*B@A


def wrong_r_over_alpha(weight,A,B,alpha):
    """wrong: r over alpha"""
    return weight+A.shape[0]/alpha*B@A


def wrong_one_over_r(weight,A,B,alpha):
    """wrong: one over r"""
    return weight+B@A/A.shape[0]


def wrong_sqrt_r(weight,A,B,alpha):
    """wrong: sqrt r"""
    return weight+alpha/math.sqrt(A.shape[0])*B@A


def wrong_floor(weight,A,B,alpha):
    """wrong: floor"""
    return weight+alpha//A.shape[0]*(B@A)


def wrong_r_is_din(weight,A,B,alpha):
    """wrong: r is din"""
    return weight+alpha/A.shape[1]*B@A


def wrong_r_is_dout(weight,A,B,alpha):
    """wrong: r is dout"""
    return weight+alpha/B.shape[0]*B@A


def wrong_AB(weight,A,B,alpha):
    """wrong: AB"""
    return weight+alpha/A.shape[0]*A@B


def wrong_ATBT(weight,A,B,alpha):
    """wrong: ATBT"""
    return weight+alpha/A.shape[0]*A.T@B.T


def wrong_transposed(weight,A,B,alpha):
    """wrong: transposed"""
    return (weight+alpha/A.shape[0]*B@A).T


def wrong_WT_plus(weight,A,B,alpha):
    """wrong: WT plus"""
    return weight.T+alpha/A.shape[0]*A.T@B.T


def wrong_inplace(weight,A,B,alpha):
    """wrong: inplace"""
    weight+=alpha/A.shape[0]*B@A; return weight


def wrong_data_inplace(weight,A,B,alpha):
    """wrong: data inplace"""
    weight.data.add_(alpha/A.shape[0]*B@A); return weight


def wrong_delta_only(weight,A,B,alpha):
    """wrong: delta only"""
    return alpha/A.shape[0]*B@A


def wrong_minus(weight,A,B,alpha):
    """wrong: minus"""
    return weight-alpha/A.shape[0]*B@A


def wrong_scale_both(weight,A,B,alpha):
    """wrong: scale both"""
    return alpha/A.shape[0]*(weight+B@A)


def wrong_scale_twice(weight,A,B,alpha):
    """wrong: scale twice"""
    s=alpha/A.shape[0]; return weight+(s*B)@(s*A)


def wrong_mulB_inplace(weight,A,B,alpha):
    """wrong: mulB inplace"""
    B*=alpha/A.shape[0]; return weight+B@A


def wrong_mulA_inplace(weight,A,B,alpha):
    """wrong: mulA inplace"""
    A.mul_(alpha).div_(len(A)); return weight+B@A


def wrong_product(weight,A,B,alpha):
    """wrong: product"""
    return weight*(1+alpha/A.shape[0]*B@A)


def wrong_matmulW(weight,A,B,alpha):
    """wrong: matmulW"""
    return weight@(alpha/A.shape[0]*B@A)


def wrong_r_numel(weight,A,B,alpha):
    """wrong: r numel"""
    return weight+alpha/A.numel()*B@A


def wrong_tuple(weight,A,B,alpha):
    """wrong: tuple"""
    return weight, alpha/A.shape[0]*B@A


def wrong_module(weight,A,B,alpha):
    """wrong: module"""
    l=nn.Linear(weight.shape[1],weight.shape[0],bias=False); l.weight.data=weight+alpha/A.shape[0]*B@A; return l


def wrong_rank_matrix(weight,A,B,alpha):
    """wrong: rank matrix"""
    return weight+alpha/torch.linalg.matrix_rank(weight)*B@A


def wrong_alpha_minus(weight,A,B,alpha):
    """wrong: alpha minus"""
    return (1-alpha)*weight+alpha*B@A


def wrong_none(weight,A,B,alpha):
    """wrong: none"""
    weight+alpha/A.shape[0]*B@A


def wrong_r4(weight,A,B,alpha):
    """wrong: r4"""
    return weight+alpha/4*B@A


def wrong_r8(weight,A,B,alpha):
    """wrong: r8"""
    return weight+alpha/8*B@A


def wrong_numpyret(weight,A,B,alpha):
    """wrong: numpyret"""
    return (weight+alpha/A.shape[0]*B@A).detach().numpy()


def wrong_elementwise(weight,A,B,alpha):
    """wrong: elementwise"""
    return weight+alpha/A.shape[0]*(B*A.T)


ANSWERS = [
    right_plain,
    right_einsum,
    right_loop,
    right_eye,
    right_addmm,
    right_linear,
    right_transposes,
    right_numpy,
    right_pinverse_param,
    wrong_no_scale,
    wrong_alpha_only,
    wrong_r_over_alpha,
    wrong_one_over_r,
    wrong_sqrt_r,
    wrong_floor,
    wrong_r_is_din,
    wrong_r_is_dout,
    wrong_AB,
    wrong_ATBT,
    wrong_transposed,
    wrong_WT_plus,
    wrong_inplace,
    wrong_data_inplace,
    wrong_delta_only,
    wrong_minus,
    wrong_scale_both,
    wrong_scale_twice,
    wrong_mulB_inplace,
    wrong_mulA_inplace,
    wrong_product,
    wrong_matmulW,
    wrong_r_numel,
    wrong_tuple,
    wrong_module,
    wrong_rank_matrix,
    wrong_alpha_minus,
    wrong_none,
    wrong_r4,
    wrong_r8,
    wrong_numpyret,
    wrong_elementwise,
]
