/** Words inside charts, in Chinese. */
import type { ChartWords } from "./charts.en";

export const chartsZh: ChartWords = {
  loading: "图表在进入视野时绘制。",
};
