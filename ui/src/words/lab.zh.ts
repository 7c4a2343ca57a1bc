/** Words of the live lab, in Chinese. */
import type { LabWords } from "./lab.en";

export const labZh: LabWords = {
  title: "实验台",
};
