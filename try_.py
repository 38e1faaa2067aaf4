from tests.world.play import play_seed
import time,sys
a,n,b=map(int,sys.argv[1:4]); mut=sys.argv[4] if len(sys.argv)>4 else ""
t=time.process_time(); bad=0
for s in range(a,a+n):
    o=play_seed(s,brokers=b,mutation=mut)
    if o.wrong:
        bad+=1
        print(b,s,o.wrong.strip().splitlines()[-1][:300])
        if bad==1: print(o.wrong[-2500:]); print("\n".join(o.story[-25:]))
print(b,(time.process_time()-t)/n, flush=True)
