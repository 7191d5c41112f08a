from collections import Counter

import numpy as np
import torch


def _walk(ids, best, new_id):
    out=[];i=0
    while i<len(ids):
        if i+1<len(ids) and (ids[i],ids[i+1])==best: out.append(new_id); i+=2
        else: out.append(ids[i]); i+=1
    return out
def _best(l): return Counter(zip(l,l[1:])).most_common(1)[0][0]


def right_counter(ids,new_id):
    """right: counter"""
    l=ids.tolist(); return torch.tensor(_walk(l,_best(l),new_id))


def right_dictloop(ids,new_id):
    """right: dictloop"""
    counts={}
    for i in range(len(ids)-1):
        p=(int(ids[i]),int(ids[i+1])); counts[p]=counts.get(p,0)+1
    best=max(counts,key=counts.get)
    out=[];i=0
    while i<len(ids):
        if i<len(ids)-1 and (int(ids[i]),int(ids[i+1]))==best: out.append(new_id);i+=2
        else: out.append(int(ids[i]));i+=1
    return torch.tensor(out,dtype=ids.dtype,device=ids.device)


def right_tensor(ids,new_id):
    """right: tensor"""
    pairs=torch.stack([ids[:-1],ids[1:]],1)
    u,inv,c=torch.unique(pairs,dim=0,return_inverse=True,return_counts=True)
    best=u[inv[c[inv].argmax()]] # may be unstable in ties
    freq=c[inv]; first=(freq==freq.max()).nonzero()[0,0]
    best=pairs[first]
    hit=(pairs==best).all(1)
    keep=torch.ones(len(ids),dtype=torch.bool); out=ids.clone(); i=0
    while i<len(hit):
        if hit[i]: out[i]=new_id; keep[i+1]=False; i+=2
        else: i+=1
    return out[keep]


def right_eqmatrix(ids,new_id):
    """right: eqmatrix"""
    a,b=ids[:-1],ids[1:]
    same=(a[:,None]==a)&(b[:,None]==b)
    k=same.sum(1).tolist(); k=k.index(max(k))
    hit=same[k].tolist()
    out=[];skip=False
    for i,t in enumerate(ids.tolist()):
        if skip: skip=False; continue
        if i<len(hit) and hit[i]: out.append(new_id); skip=True
        else: out.append(t)
    return torch.tensor(out)


def right_stack(ids,new_id):
    """right: stack"""
    l=ids.tolist(); a,b=_best(l)
    out=[];mergeable=False
    for t in l:
        if mergeable and t==b and out[-1]==a: out[-1]=new_id; mergeable=False
        else: out.append(t); mergeable=True
    return torch.tensor(out)


def right_numpy(ids,new_id):
    """right: numpy"""
    x=ids.numpy().copy(); p=np.stack([x[:-1],x[1:]],1)
    _,idx,c=np.unique(p,axis=0,return_index=True,return_counts=True)
    a,b=p[idx[c==c.max()].min()]
    i=0; x=list(x)
    while i<len(x)-1:
        if x[i]==a and x[i+1]==b: x[i:i+2]=[new_id]
        i+=1
    return torch.from_numpy(np.array(x))


def right_text(ids,new_id):
    """right: text"""
    l=ids.tolist(); a,b=_best(l)
    s=''.join(chr(0x4000+t) for t in l)
    s=s.replace(chr(0x4000+a)+chr(0x4000+b),chr(0x4000+new_id))
    return torch.tensor([ord(c)-0x4000 for c in s])


def right_recursive_cat(ids,new_id):
    """right: recursive cat"""
    l=ids.tolist(); best=torch.tensor(_best(l))
    parts=[];i=0
    while i<ids.shape[0]:
        if torch.equal(ids[i:i+2],best): parts.append(torch.tensor([new_id]));i+=2
        else: parts.append(ids[i:i+1]);i+=1
    return torch.cat(parts)


def wrong_last_tie(ids,new_id):
    """wrong: last tie"""
    l=ids.tolist(); c=Counter(zip(l,l[1:])); m=max(c.values())
    best=[p for p in zip(l,l[1:]) if c[p]==m][-1]
    return torch.tensor(_walk(l,best,new_id))


def wrong_le_tie(ids,new_id):
    """wrong: >= while scanning the dict"""
    l=ids.tolist(); c=Counter(zip(l,l[1:])); best=None;m=0
    for p,n in c.items():
        if n>=m: best,m=p,n
    return torch.tensor(_walk(l,best,new_id))


def wrong_smallest_tie(ids,new_id):
    """wrong: torch.unique sorted argmax"""
    pairs=torch.stack([ids[:-1],ids[1:]],1)
    u,c=torch.unique(pairs,dim=0,return_counts=True)
    return torch.tensor(_walk(ids.tolist(),tuple(u[c.argmax()].tolist()),new_id))


def wrong_largest_tie(ids,new_id):
    """wrong: max(c, key=lambda p:(c[p],p))"""
    l=ids.tolist(); c=Counter(zip(l,l[1:]))
    return torch.tensor(_walk(l,max(c,key=lambda p:(c[p],p)),new_id))


def wrong_nonoverlap_pairs(ids,new_id):
    """wrong: counts zip(l[::2], l[1::2])"""
    l=ids.tolist(); c=Counter(zip(l[::2],l[1::2])); return torch.tensor(_walk(l,c.most_common(1)[0][0],new_id))


def wrong_counts_no_overlap(ids,new_id):
    """wrong: as many as would be merged: 5 5 5 counts once"""
    l=ids.tolist(); c=Counter(); 
    for p in dict.fromkeys(zip(l,l[1:])):
        i=0
        while i<len(l)-1:
            if (l[i],l[i+1])==p: c[p]+=1;i+=2
            else: i+=1
    return torch.tensor(_walk(l,max(c,key=c.get),new_id))


def wrong_unordered(ids,new_id):
    """wrong: sorted pairs"""
    l=ids.tolist(); c=Counter(tuple(sorted(p)) for p in zip(l,l[1:])); b=c.most_common(1)[0][0]
    out=[];i=0
    while i<len(l):
        if i+1<len(l) and tuple(sorted(l[i:i+2]))==b: out.append(new_id);i+=2
        else: out.append(l[i]);i+=1
    return torch.tensor(out)


def wrong_only_first(ids,new_id):
    """wrong: merges once"""
    l=ids.tolist(); b=_best(l)
    for i in range(len(l)-1):
        if (l[i],l[i+1])==b: return torch.tensor(l[:i]+[new_id]+l[i+2:])


def wrong_right_to_left(ids,new_id):
    """wrong: right to left"""
    l=ids.tolist(); b=_best(l); i=len(l)-1
    while i>0:
        if (l[i-1],l[i])==b: l[i-1:i+1]=[new_id]; i-=2
        else: i-=1
    return torch.tensor(l)


def wrong_keeps_second(ids,new_id):
    """wrong: replaces the first and leaves second"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    for i,t in enumerate(l): out.append(new_id if tuple(l[i:i+2])==b else t)
    return torch.tensor(out)


def wrong_no_skip(ids,new_id):
    """wrong: appends new_id, i+=1"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    hit=[tuple(l[i:i+2])==b for i in range(len(l)-1)]
    for i,t in enumerate(l):
        if i<len(hit) and hit[i]: out.append(new_id)
        elif i and hit[i-1]: pass
        else: out.append(t)
    return torch.tensor(out)


def wrong_drops_last(ids,new_id):
    """wrong: while i < len-1, forgets last"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    while i<len(l)-1:
        if (l[i],l[i+1])==b: out.append(new_id);i+=2
        else: out.append(l[i]);i+=1
    return torch.tensor(out)


def wrong_dups_last(ids,new_id):
    """wrong: after loop always append last"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    while i<len(l)-1:
        if (l[i],l[i+1])==b: out.append(new_id);i+=2
        else: out.append(l[i]);i+=1
    out.append(l[-1]); return torch.tensor(out)


def wrong_index_error(ids,new_id):
    """wrong: ids[i+1] past the end"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    while i<len(l):
        if (l[i],l[i+1])==b: out.append(new_id);i+=2
        else: out.append(l[i]);i+=1
    return torch.tensor(out)


def wrong_list(ids,new_id):
    """wrong: list"""
    l=ids.tolist(); return _walk(l,_best(l),new_id)


def wrong_tensor_keys(ids,new_id):
    """wrong: tensors hash by identity -> every pair counted once"""
    c={}
    for a,b in zip(ids,ids[1:]): c[(a,b)]=c.get((a,b),0)+1
    best=max(c,key=c.get); return torch.tensor(_walk(ids.tolist(),(int(best[0]),int(best[1])),new_id))


def wrong_first_pair(ids,new_id):
    """wrong: first pair"""
    l=ids.tolist(); return torch.tensor(_walk(l,(l[0],l[1]),new_id))


def wrong_two_most_frequent_ids(ids,new_id):
    """wrong: two most frequent ids"""
    l=ids.tolist(); c=Counter(l).most_common(2); b=(c[0][0],c[-1][0]); return torch.tensor(_walk(l,b,new_id))


def wrong_least(ids,new_id):
    """wrong: least"""
    l=ids.tolist(); c=Counter(zip(l,l[1:])); return torch.tensor(_walk(l,min(c,key=c.get),new_id))


def wrong_all_repeat(ids,new_id):
    """wrong: goes on merging until nothing repeats"""
    l=ids.tolist()
    while len(l)>1:
        c=Counter(zip(l,l[1:])); b,n=c.most_common(1)[0]
        if n<2: break
        l=_walk(l,b,new_id); new_id+=1
    return torch.tensor(l)


def wrong_merges_pairs_of_new(ids,new_id):
    """wrong: list.replace loop that does not step on"""
    l=ids.tolist(); b=_best(l)
    out=[]
    for t in l:
        out.append(t)
        if tuple(out[-2:])==b: out[-2:]=[new_id if b[0]!=b[1] else b[0]]
    return torch.tensor(out)


def wrong_max_new(ids,new_id):
    """wrong: ignores new_id"""
    l=ids.tolist(); return torch.tensor(_walk(l,_best(l),max(l)+1))


def wrong_float(ids,new_id):
    """wrong: float"""
    l=ids.tolist(); return torch.Tensor(_walk(l,_best(l),new_id))


def wrong_none(ids,new_id):
    """wrong: none"""
    _walk(ids.tolist(),_best(ids.tolist()),new_id)


def wrong_inplace_mut(ids,new_id):
    """wrong: writes to ids"""
    l=ids.tolist(); b=_best(l); keep=torch.ones(len(l),dtype=torch.bool); i=0
    while i<len(l)-1:
        if (l[i],l[i+1])==b: ids[i]=new_id; keep[i+1]=False; i+=2
        else: i+=1
    return ids[keep]


def wrong_wrong_pos(ids,new_id):
    """wrong: merged where first element alone matches"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    while i<len(l):
        if l[i]==b[0]: out.append(new_id);i+=2
        else: out.append(l[i]);i+=1
    return torch.tensor(out)


def wrong_return_pair(ids,new_id):
    """wrong: return pair"""
    return torch.tensor(_best(ids.tolist()))


def wrong_range_minus2(ids,new_id):
    """wrong: counts all but the last pair"""
    l=ids.tolist(); c=Counter((l[i],l[i+1]) for i in range(len(l)-2))
    return torch.tensor(_walk(l,c.most_common(1)[0][0],new_id))


def wrong_wrap(ids,new_id):
    """wrong: torch.roll: last with first counts"""
    l=ids.tolist(); c=Counter(zip(l,l[1:]+l[:1])); return torch.tensor(_walk(l,c.most_common(1)[0][0],new_id))


def wrong_enumerate_misses_tail(ids,new_id):
    """wrong: last pair never merged: i<len-2"""
    l=ids.tolist(); b=_best(l); out=[];i=0
    while i<len(l):
        if i<len(l)-2 and (l[i],l[i+1])==b: out.append(new_id);i+=2
        else: out.append(l[i]);i+=1
    return torch.tensor(out)


ANSWERS = [
    right_counter,
    right_dictloop,
    right_tensor,
    right_eqmatrix,
    right_stack,
    right_numpy,
    right_text,
    right_recursive_cat,
    wrong_last_tie,
    wrong_le_tie,
    wrong_smallest_tie,
    wrong_largest_tie,
    wrong_nonoverlap_pairs,
    wrong_counts_no_overlap,
    wrong_unordered,
    wrong_only_first,
    wrong_right_to_left,
    wrong_keeps_second,
    wrong_no_skip,
    wrong_drops_last,
    wrong_dups_last,
    wrong_index_error,
    wrong_list,
    wrong_tensor_keys,
    wrong_first_pair,
    wrong_two_most_frequent_ids,
    wrong_least,
    wrong_all_repeat,
    wrong_merges_pairs_of_new,
    wrong_max_new,
    wrong_float,
    wrong_none,
    wrong_inplace_mut,
    wrong_wrong_pos,
    wrong_return_pair,
    wrong_range_minus2,
    wrong_wrap,
    wrong_enumerate_misses_tail,
]
