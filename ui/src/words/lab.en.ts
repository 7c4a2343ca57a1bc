/** Words of the live lab, in English. `lab.zh.ts` has the same keys, or does not compile. */
export const labEn = {
  title: "Lab",
};

export type LabWords = typeof labEn;
