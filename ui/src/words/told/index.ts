/** The catalogue of all sentences, and how to ask for one. */
import { answerKindsZh, answersZh } from "./answers.zh";
import { type Catalogue, Teller } from "./engine";
import { failureKindsZh, failuresZh } from "./failures.zh";
import { findingKindsZh, findingsZh } from "./findings.zh";
import { hostKindsZh, hostZh } from "./host.zh";
import { kindsZh } from "./kinds.zh";
import { measureKindsZh, measuresZh } from "./measures.zh";
import { restKindsZh, restZh } from "./rest.zh";
import { trustKindsZh, trustZh } from "./trust.zh";

export const catalogueZh: Catalogue = {
  sentences: [...answersZh, ...trustZh, ...findingsZh, ...measuresZh, ...hostZh, ...restZh, ...failuresZh],
  kinds: {
    ...kindsZh,
    ...answerKindsZh,
    ...trustKindsZh,
    ...findingKindsZh,
    ...measureKindsZh,
    ...hostKindsZh,
    ...restKindsZh,
    ...failureKindsZh,
  },
};

let teller: Teller | undefined;

/** Made when it is first asked for: the English page never pays for it. */
export const tellerZh = (): Teller => (teller ??= new Teller(catalogueZh));
