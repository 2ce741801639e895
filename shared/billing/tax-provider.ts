// What decides the tax of invoices. Another engine is one file that gives a `TaxProvider`, passed to `invoiceTax`.
import { decideTax, type TaxDecision, type TaxQuestion } from './tax.ts'

/**
 * Gives the tax of an invoice, or names the figure that is missing. The same question must give the same answer without any call to a
 * server: `verify` prices a FINAL invoice again years later. An engine that is a service hands its rates over beforehand, with
 * `POST /v1/tax-rates`.
 */
export type TaxProvider = { readonly decide: (question: TaxQuestion) => TaxDecision }

/** The rules of semantics 5.5 with the stored rates and those of the platform. */
export const BUILT_IN_TAX: TaxProvider = { decide: decideTax }
