/**
 * The catalogue of texts that have no id: errors of the system and of libraries, what a trial says of itself in
 * `trial.json`, labels of cells, and what files of an older prony say of a host and a lab. Sentences with ids: `words/said`.
 */
import { answersZh } from "./answers.zh";
import { type Catalogue, Teller } from "./engine";
import { failureKindsZh, failuresZh } from "./failures.zh";
import { hostKindsZh, hostZh } from "./host.zh";
import { kindsZh } from "./kinds.zh";
import { measureKindsZh, measuresZh } from "./measures.zh";
import { restKindsZh, restZh } from "./rest.zh";
import { trustKindsZh, trustZh } from "./trust.zh";

export const catalogueZh: Catalogue = {
  sentences: [...answersZh, ...trustZh, ...measuresZh, ...hostZh, ...restZh, ...failuresZh],
  kinds: {
    ...kindsZh,
    ...trustKindsZh,
    ...measureKindsZh,
    ...hostKindsZh,
    ...restKindsZh,
    ...failureKindsZh,
  },
};

let teller: Teller | undefined;

/** Made when it is first asked for: the English page never pays for it. */
export const tellerZh = (): Teller => (teller ??= new Teller(catalogueZh));
