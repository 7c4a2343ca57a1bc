/** Words inside charts, in English. `charts.zh.ts` has the same keys, or does not compile. */
export const chartsEn = {
  loading: "The chart is drawn when it comes into view.",
};

export type ChartWords = typeof chartsEn;
