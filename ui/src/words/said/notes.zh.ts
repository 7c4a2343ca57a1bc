/** Notes on loads, events, segments and plans: `plan/src`, `runner/src/{events,adaptive,intervene,soak}`. */
import type { Texts } from "./ids";

export const notesZh = {
  "capacity.budget_holds": "预算 {budget} 只够 {passes} 遍中的 {fit} 遍",
  "capacity.ladder_ends":
    "阶梯止于 {top} 而不是 {wanted} 个连接：到 {to} 只有 {ports} 个本地端口；请放宽 net.ipv4.ip_local_port_range，或在文件的 `sources` 下给出更多地址",
  "capacity.search_begins_higher":
    "搜索从每秒 {start} 而不是 {asked} 开始：按目标条件，{length} 的试次需要 {needed} 个请求；要从更低处搜索，请延长试次",
  "event.cannot_start": "无法启动 `{program}`：{cause}",
  "event.empty_command": "命令为空",
  "event.ended_before": "目标此前已经退出",
  "event.failed": "`{program}` 失败（{status}）：{output}",
  "event.killed": "`{program}` 在 {time} 内或试次结束前没有结束，已被终止",
  "event.no_knobs": "它没有旋钮",
  "event.no_manifest": "它没有清单文件",
  "event.no_process": "目标没有进程",
  "event.no_reload": "它的清单中没有 [reload]",
  "event.not_started": "这个目标不是由 prony 启动的",
  "event.signal": "无法发送信号：{cause}",
  "intervention.above": "高于",
  "intervention.below": "低于",
  "intervention.prediction": "{change}之后，{metric} {way}原来的 {ratio} 倍",
  "note.alarm": "告警 {alarm} 触发：{evidence}",
  "note.alarm.ended": "告警 {alarm} 触发并结束了负载：{evidence}",
  "note.origins": "请求发往 {origins} 个源；`-c` 是到每个源的连接数",
  "note.pipelining":
    "流水线深度为 {requests} 个请求：响应时间包含在同一连接上排队的时间，不能与其他负载的响应时间比较",
  "note.pipelining.none": "流水线在此不起作用：{why}",
  "note.pipelining.origins": "下一个请求可能发往另一个源，因此一个连接同时只承载一个请求",
  "note.pipelining.redirects": "跟随重定向时，一个连接同时只承载一个请求",
  "note.pipelining.session": "会话的每一步都要等上一步的应答",
  "note.ports.remedy": "办法：更多源地址（`--bind`）、保持连接，或放宽 net.ipv4.ip_local_port_range",
  "note.ports.run_out":
    "按此速率，端口将在 {after} s 内用尽：每秒新建 {rate} 个连接，每个连接关闭后还占用端口 {hold} s，共 {ports} 个端口；{remedy}",
  "note.ports.too_few": "{standing} 个连接超过了现有的 {ports} 个本地端口；{remedy}",
  "note.proxy":
    "所有连接都是经代理 {proxy} 的隧道{from}：连接时间包含 CONNECT，其他各项时间都包含代理自身的开销",
  "note.proxy.variable": "（由环境变量 {name} 指定，用 `--proxy none` 可不用它）",
  "note.server_counts": "目标的计数未能全部与客户端对照：{reason}",
  "note.streams.fewer":
    "要求每个连接 {asked} 个流，服务器只允许 {granted} 个：其余请求在等待，等待计入其响应时间",
  "segment.no_limits": "无法读取目标的上限：{cause}",
  "segment.not_started": "目标不是由 prony 启动的，无法读取它占用的资源：请用 `use` 或 `command` 指定它",
  "stopped.blocks": "最多只要求 {blocks} 个区组",
  "stopped.budget": "预算 {budget} 容不下又一个区组：前 {done} 个已用 {spent}",
  "stopped.decided": "{blocks} 个区组后所有论断均已有定论",
  "stopped.precision": "已达到 ± {wanted} 的精度",
} as const satisfies Texts;
