/** The host as an older `prony doctor` found it, and what prony changed on it. Those of today have ids: `words/said/host.zh.ts`. */
import type { Entry } from "./engine";

export const hostZh: readonly Entry[] = [
  ["{title} ({any}): {any2}", "{title}（{any}）：{any2}"],
  ["{title}", "{title}"],
  ["cannot be read", "无法读取"],
  ["→ {any}", "→ {any}"],

  // What facts do to the numbers.
  [
    "the hypervisor gives this machine's cores to others; above 1 % results are weakened, above 5 % a trial is void",
    "虚拟机监控程序把本机的核给了别人；超过 1 % 结果会打折扣，超过 5 % 试次作废",
  ],
  ["other programs take cores and caches from target and generator", "其他程序占用目标和发生器的核与缓存"],
  [
    "the reading was too short to judge; run prony doctor again",
    "读数时间太短，无法判断；请再运行 `prony doctor`",
  ],
  [
    "move to a host with dedicated cores, or measure when neighbours are quiet",
    "换到有独占 CPU 核的主机，或在邻居安静时测量",
  ],
  [
    "stop other programs (the next fact names the busiest), wait for builds to end, then run prony doctor again",
    "停止其他程序（下一项列出最忙的），等编译结束，再运行 `prony doctor`",
  ],
  [
    "these programs take the cores' time and caches from target and generator",
    "这些程序占用目标和发生器的 CPU 时间与缓存",
  ],
  [
    "stop them, or wait for their end, then run prony doctor again",
    "停止它们或等它们结束，再运行 `prony doctor`",
  ],
  [
    "without the controllers cpu, cpuset and memory a target cannot be confined to, say, 1 CPU and 2 GiB",
    "没有 cpu、cpuset、memory 这些控制器，就无法把目标限制在例如 1 个 CPU 和 2 GiB 内",
  ],
  [
    "beyond the quota all threads stop until the next period of usually 100 ms, which shows as latency of the target",
    "超出配额后所有线程停到下一个周期（通常 100 ms），表现为目标的延迟",
  ],
  [
    "targets started by prony share it; beyond it pages are reclaimed and processes killed",
    "prony 启动的目标共用它；超出后会回收内存页、杀掉进程",
  ],
  [
    "boot with cgroup v2 and enable the controllers in cgroup.subtree_control of the parent",
    "以 cgroup v2 启动，并在上级的 cgroup.subtree_control 中启用这些控制器",
  ],
  [
    "run as root, or with a delegated group: systemd-run --user --scope -p Delegate=yes prony …",
    "以 root 运行，或使用委派的控制组：`systemd-run --user --scope -p Delegate=yes prony …`",
  ],
  [
    "start prony outside the limited group or container; limit the target instead",
    "在受限的控制组或容器之外启动 prony；改为限制目标",
  ],
  [
    "raise the limit of prony's group or container, or start prony outside of it",
    "提高 prony 所在控制组或容器的上限，或在其外启动 prony",
  ],
  [
    "target and generator need cores of their own, and the kernel one more; else each is measured through the other",
    "目标和发生器各需独占的核，内核还需一个；否则测量会相互干扰",
  ],
  [
    "with any other governor than `performance` a core slows down when it has little to do, so latency at low load is too high",
    "调频策略不是 `performance` 时，空闲的核会降频，低负载下的延迟因此偏高",
  ],
  [
    "the clock depends on heat and on the other cores, so trials that run later or beside others are slower",
    "频率取决于温度和其他核，因此较晚运行或与别的程序同时运行的试次会更慢",
  ],
  [
    "results hold for this model; others differ in clock, caches and mitigations",
    "结果只适用于这一型号；其他型号的频率、缓存和漏洞缓解措施不同",
  ],
  [
    "cores at different clocks give the target another speed from trial to trial",
    "各核频率不同，目标在各试次中的速度就不同",
  ],
  [
    "two logical CPUs share one core: a target beside the generator on the same core loses up to half its speed",
    "两个逻辑 CPU 共用一个核：目标与发生器同在一个核上时，速度最多损失一半",
  ],
  [
    "give target and generator whole cores (thread_siblings_list tells which CPUs share one), or switch it off: echo off > /sys/devices/system/cpu/smt/control",
    "让目标和发生器各占整核（thread_siblings_list 说明哪些 CPU 共用一核），或关闭它：`echo off > /sys/devices/system/cpu/smt/control`",
  ],
  [
    "memory of another node is slower; a process that is moved between nodes changes its speed",
    "其他节点的内存更慢；进程在节点间迁移时速度会变",
  ],
  [
    "pin the target to the CPUs of one node, with its memory: numactl --cpunodebind=0 --membind=0",
    "把目标及其内存绑定到一个节点：`numactl --cpunodebind=0 --membind=0`",
  ],
  [
    "neighbours share the hardware and can steal CPU time; results do not carry over to bare metal",
    "邻居共用硬件，可能抢占 CPU 时间；结果不能推广到物理机",
  ],
  [
    "watch host.steal, repeat at other times of the day, or measure on bare metal",
    "留意 host.steal，在一天的其他时段重复测量，或在物理机上测量",
  ],
  [
    "use a host with at least four cores, or allow this process more (taskset, cpuset)",
    "使用至少四个核的主机，或允许本进程使用更多核（taskset、cpuset）",
  ],
  [
    "use a host with at least four cores; until then keep to targets of one core and trust comparisons more than absolute numbers",
    "使用至少四个核的主机；在此之前只测单核的目标，对比比绝对数值更可信",
  ],
  ["cpupower frequency-set -g performance", "`cpupower frequency-set -g performance`"],
  ["for the smallest differences switch it off: {any}", "要测最小的差异，请关闭它：{any}"],
  [
    "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
    "`echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`",
  ],
  ["echo 0 > /sys/devices/system/cpu/cpufreq/boost", "`echo 0 > /sys/devices/system/cpu/cpufreq/boost`"],
  [
    "set the governor to performance and pin target and generator to cores",
    "把调频策略设为 performance，并把目标和发生器绑定到核",
  ],
  [
    "io_uring with deferred task run needs 6.1; older kernels are driven through epoll, at more CPU per request",
    "io_uring 的延迟任务执行需要 6.1；更旧的内核改用 epoll，每请求 CPU 更多",
  ],
  ["use kernel 6.1 or later where the generator's cost matters", "在意发生器开销时，请用 6.1 或更新的内核"],
  [
    "every time stamp reads it: the tsc takes some 20 ns, a source that needs a system call or a device 0.2 to 2 µs",
    "每个时间戳都要读它：tsc 约 20 ns，需要系统调用或设备的时钟源要 0.2 至 2 µs",
  ],
  [
    "read without a system call, but adjusted by the hypervisor; tsc where it is offered",
    "读取时不需要系统调用，但由虚拟机监控程序调整；能用 tsc 时请用 tsc",
  ],
  [
    "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, where the kernel log does not call it unstable",
    "`echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`，前提是内核日志没有说它不稳定",
  ],
  [
    "each connection takes one in the generator and one in the target; beyond it connections fail",
    "每个连接在发生器和目标中各占一个；超出后连接失败",
  ],
  [
    "generator, target and services share it; beyond it nothing can be opened",
    "发生器、目标和服务共用它；超出后什么也打不开",
  ],
  ["sysctl -w fs.file-max={n}", "`sysctl -w fs.file-max={n}`"],
  [
    "ulimit -n {n} before starting prony, or LimitNOFILE= in its unit",
    "启动 prony 前 `ulimit -n {n}`，或在其 unit 中设置 `LimitNOFILE=`",
  ],
  [
    "for more connections than this raise the hard limit (/etc/security/limits.conf, LimitNOFILE=)",
    "需要更多连接时，提高硬上限（/etc/security/limits.conf、`LimitNOFILE=`）",
  ],
  [
    "with little memory free the kernel reclaims pages during the run, which shows as latency",
    "空闲内存少时，内核会在运行期间回收内存页，表现为延迟",
  ],
  ["stop programs that hold memory, or use a host with more", "停止占用内存的程序，或使用内存更大的主机"],
  [
    "a page that was swapped out costs a disk read of milliseconds in the middle of a request",
    "被换出的页会在请求中途引起几毫秒的磁盘读取",
  ],
  ["swapoff -a for the time of the run", "运行期间 `swapoff -a`"],
  [
    "with `always` the kernel makes huge pages whenever it can: memory looks larger and faults take longer now and then",
    "设为 `always` 时，内核尽量使用大页：内存看起来更大，缺页有时更久",
  ],
  [
    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
  ],
  [
    "above 10 the kernel swaps out memory of programs to keep files in its cache, which a target that rests between trials pays for",
    "高于 10 时，内核会换出程序的内存来保留文件缓存，试次之间空闲的目标会为此付出代价",
  ],
  ["sysctl -w vm.swappiness=1, or swapoff -a", "`sysctl -w vm.swappiness=1`，或 `swapoff -a`"],
  [
    "they make every system call and every switch between processes slower, more on some CPUs than on others: services that make many are compared with them, not without",
    "它们使每次系统调用和进程切换变慢，因 CPU 而异：大量使用这些操作的服务，对比结果包含这一影响",
  ],
  [
    "updates switch mitigations on and change the speed of single instructions",
    "更新会启用缓解措施，并改变个别指令的速度",
  ],
  [
    "update kernel and microcode as in production, or compare only with hosts that have the same list",
    "把内核和微码更新到与生产环境一致，或只与清单相同的主机比较",
  ],
  ["boot again, so that all cores load the same", "重新启动，使所有核加载相同的版本"],
  [
    "caps the backlog of every listener; beyond it connections are dropped and come back after 1, 3 or 7 s",
    "限制每个监听套接字的 backlog；超出的连接被丢弃，1、3 或 7 s 后重试",
  ],
  [
    "beyond it new connections wait for a retransmitted SYN, or SYN cookies change how they are made",
    "超出后，新连接要等 SYN 重传，或改用 SYN cookie 建立",
  ],
  [
    "bounds new connections per second from one address to one server: each closed one holds its port for 60 s in TIME_WAIT (tcp_tw_reuse can lift this)",
    "限制一个地址每秒能向一台服务器新建的连接：每个关闭的连接在 TIME_WAIT 中占用端口 60 s（tcp_tw_reuse 可解除）",
  ],
  [
    'sysctl -w net.ipv4.ip_local_port_range="1024 65535", more source addresses (127.0.0.0/8), or keep-alive',
    '`sysctl -w net.ipv4.ip_local_port_range="1024 65535"`，更多源地址（127.0.0.0/8），或保持连接',
  ],
  [
    "where it is on, a connecting client may take a port from TIME_WAIT after 1 s instead of 60 s",
    "启用时，客户端 1 s 后即可重用 TIME_WAIT 中的端口，而不必等 60 s",
  ],
  [
    "orphaned connections hold memory this long when the other side does not close; it does not shorten TIME_WAIT",
    "对端不关闭时，孤儿连接占用内存这么久；它不会缩短 TIME_WAIT",
  ],
  [
    "a connection that paused begins with a small window again: large answers on a real network need more round trips; no matter on loopback",
    "停顿过的连接重新从小窗口开始：在真实网络上，大的应答需要更多往返；在回环上没有影响",
  ],
  [
    "decides how fast data leaves; bbr paces its packets with timers, which costs CPU and adds latency even on loopback",
    "决定数据发出的快慢；bbr 用定时器控制发包，即使在回环上也耗费 CPU 并增加延迟",
  ],
  [
    "set it as in production: sysctl -w net.ipv4.tcp_slow_start_after_idle=0",
    "设为与生产环境一致：`sysctl -w net.ipv4.tcp_slow_start_after_idle=0`",
  ],
  [
    "set it as in production: sysctl -w net.ipv4.tcp_congestion_control=cubic",
    "设为与生产环境一致：`sysctl -w net.ipv4.tcp_congestion_control=cubic`",
  ],
  ["sysctl -w net.core.somaxconn=4096", "`sysctl -w net.core.somaxconn=4096`"],
  ["sysctl -w net.ipv4.tcp_max_syn_backlog=4096", "`sysctl -w net.ipv4.tcp_max_syn_backlog=4096`"],
  [
    "sysctl -w net.ipv4.tcp_tw_reuse=1 where many connections are opened",
    "需要打开大量连接时：`sysctl -w net.ipv4.tcp_tw_reuse=1`",
  ],
  ["sysctl -w net.ipv4.tcp_fin_timeout=60", "`sysctl -w net.ipv4.tcp_fin_timeout=60`"],
  [
    "CPUs that need different times give a trial another speed on each; between two hosts it says which is faster, and by how much",
    "各 CPU 用时不同，试次的速度就因 CPU 而异；在两台主机之间，它说明哪台更快、快多少",
  ],
  [
    "what makes the same work take other times from one moment to the next does so to every request: latency has this noise in it whatever the target does",
    "使同样的工作用时忽长忽短的因素，对每个请求也一样：无论目标如何，延迟都带有这种噪声",
  ],
  [
    "stop other programs and run prony doctor again; if it stays, set the governor to performance, leave the slow CPUs out (--pin), or use another host",
    "停止其他程序，再运行 `prony doctor`；若仍如此，把调频策略设为 performance，避开慢的 CPU（--pin），或换一台主机",
  ],
  [
    "stop other programs, set the governor to performance, keep interrupts off these CPUs, or use a host with dedicated cores",
    "停止其他程序，把调频策略设为 performance，让中断避开这些 CPU，或使用有独占 CPU 核的主机",
  ],

  // What was read.
  ["{q} now, {q2} since boot", "现在 {q}，开机以来 {q2}"],
  [
    "{q} of CPU time busy now, load average {q2} on {n} cores",
    "现在 CPU 时间的 {q} 在忙，{n} 个核的平均负载 {q2}",
  ],
  ["none takes {q} of a core", "没有进程占用一个核的 {q}"],
  ["{busiest}", "{busiest}"],
  ["{busiest}¦, and {n} more", "{busiest}，另有 {n} 个"],
  ["{key}: {name} usable", "{key}：可用 {name}"],
  ["{key}: {name} of {name2} usable", "{key}：{name2} 中可用 {name}"],
  ["{q} cores", "{q} 个核"],
  ["{key} usable of {key2}", "{key2} 中可用 {key}"],
  ["{q} to {q2} MHz", "{q} 至 {q2} MHz"],
  ["{key}, may be raised to {key2}", "{key}，可提高到 {key2}"],
  ["{q} available of {q2}", "{q2} 中可用 {q}"],
  ["{q}, unused", "{q}，未使用"],
  ["{q} of {q2} in use", "{q2} 中已用 {q}"],
  ["{q}, without swap", "{q}，无交换区"],
  ["switched off at boot", "开机时已关闭"],
  ["vulnerable: {name}", "有漏洞：{name}"],
  ["mitigated: {name}", "已缓解：{name}"],
  ["vulnerable: {name}; ¦mitigated: {name2}", "有漏洞：{name}；已缓解：{name2}"],
  ["none needed", "不需要"],
  ["on for loopback", "对回环启用"],
  ["{n} to {n2}: {n3} ports, {n4} new connections/s", "{n} 至 {n2}：{n3} 个端口，每秒 {n4} 个新连接"],
  ["{q} on CPU {n}", "CPU {n} 上 {q}"],
  [
    "{q} (CPU {n}) to {q2} (CPU {n2}) on {n3} CPUs: {q3} apart",
    "{n3} 个 CPU 上 {q}（CPU {n}）至 {q2}（CPU {n2}）：相差 {q3}",
  ],
  [
    "varies by {q}, the slowest hundredth takes {q2} times the median (CPU {n}, the noisiest)",
    "波动 {q}，最慢的百分之一用时为中位数的 {q2} 倍（CPU {n}，最不稳定）",
  ],
  ["unlimited", "不限"],
  ["yes", "是"],
  ["no", "否"],
  ["on", "开启"],
  ["off", "关闭"],
  ["none", "无"],
];

export const hostKindsZh: Record<string, readonly Entry[]> = {
  title: [
    ["Stolen CPU time", "被抢占的 CPU 时间"],
    ["Competing load", "竞争负载"],
    ["Busiest processes", "最忙的进程"],
    ["Control groups", "控制组"],
    ["CPU quota on prony itself", "prony 自身的 CPU 配额"],
    ["Memory limit on prony itself", "prony 自身的内存上限"],
    ["Cores", "CPU 核"],
    ["Frequency governor", "调频策略"],
    ["Turbo", "睿频"],
    ["CPU model", "CPU 型号"],
    ["Clock of the cores now", "各核当前频率"],
    ["Simultaneous multithreading", "同时多线程（SMT）"],
    ["NUMA nodes", "NUMA 节点"],
    ["Virtual machine", "虚拟机"],
    ["Kernel", "内核"],
    ["Clock source", "时钟源"],
    ["Open files of one process", "单个进程的打开文件数"],
    ["Open files of the whole host", "整机的打开文件数"],
    ["Memory", "内存"],
    ["Swap", "交换区"],
    ["Transparent huge pages", "透明大页"],
    ["Swappiness", "换出倾向（swappiness）"],
    ["Mitigations of CPU vulnerabilities", "CPU 漏洞缓解措施"],
    ["Microcode", "微码"],
    ["Longest accept queue", "接收队列的最大长度"],
    ["Longest queue of half-open connections", "半开连接队列的最大长度"],
    ["Local ports", "本地端口"],
    ["Reuse of ports in TIME_WAIT", "重用 TIME_WAIT 中的端口"],
    ["Time in FIN_WAIT_2", "FIN_WAIT_2 的时长"],
    ["Slow start after idling", "空闲后的慢启动"],
    ["Congestion control", "拥塞控制"],
    ["Time of a fixed amount of work", "固定工作量的用时"],
    ["Steadiness of a fixed amount of work", "固定工作量的稳定性"],
  ],
  busiest: [
    ["{busy}", "{busy}"],
    ["{busy}, {busiest}", "{busy}，{busiest}"],
  ],
  busy: [["{name} (process {n}) takes {q} cores", "{name}（进程 {n}）占用 {q} 个核"]],
};
