/** The charts, for the report and the lab. Each takes parts of the page file as they are. */
import "./charts.css";

export { CounterName, CounterPicker, TrialOverTime, matching } from "./counters";
export { EndpointsChart, hasEndpoints } from "./endpoints";
export { Flame, profileAmount, profileValue } from "./flame";
export { withinTarget } from "./data";
export { ForestChart, verdictWord } from "./forest";
export { HeatChart } from "./heat";
export { HistoryChart } from "./history";
export { Key, Swatch } from "./key";
export { LadderChart, type LadderData, ladderOfCells, laddersOf } from "./ladder";
export { targetIndex } from "./look";
export { MemoryChart } from "./memory";
export { OverviewChart } from "./overview";
export { type Binned, CdfChart, type Curve, HistogramChart, PercentilesChart } from "./percentiles";
export { SearchChart } from "./search";
export { SoakChart, soakShown } from "./soak";
export { ShiftChart, shiftSentence } from "./shift";
export { Sparkline } from "./sparkline";
export { StripsChart } from "./strips";
export { counterKey, TimelineChart } from "./timeline";
export { PartsChart, WaterfallChart } from "./waterfall";
