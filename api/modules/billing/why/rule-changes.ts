// Rules of pricing that changed after invoices had become FINAL by the rules before. `verify` prices by the rules of now, so it
// names those that explain a difference.
import type { InvoiceRow } from '../../invoices/table.ts'

/** A member of the document in which it differs. */
type Difference = { readonly field: string; readonly issued: string | null; readonly computed: string | null }

type RuleChange = {
  readonly text: string
  readonly explains: (difference: Difference, row: Pick<InvoiceRow, 'billing_type'>) => boolean
}

const newFinding =
  (text: string): RuleChange['explains'] =>
  ({ field, issued, computed }) =>
    field.startsWith('content.validation_result') &&
    computed?.includes(text) === true &&
    issued?.includes(text) !== true

const CHANGES: readonly RuleChange[] = [
  {
    text: 'The tax of a self-billing invoice follows from the customer as the supplier. Before, the billing entity counted as the supplier.',
    explains: ({ field }, { billing_type }) =>
      billing_type === 'SELF_BILLING' &&
      ['content.tax_', 'content.validation_result', 'tax_amount', 'amount_including_tax'].some(start =>
        field.startsWith(start),
      ),
  },
  {
    text: 'An exchange rate that is more than 31 days older than the invoice keeps the invoice from becoming FINAL. Before, it was used.',
    explains: newFinding('The exchange rate of '),
  },
  {
    text: 'A country whose tax rate is not known keeps the invoice from becoming FINAL. Before, no tax was charged.',
    explains: newFinding('No tax rate of '),
  },
]

/** The changes of rules that explain differences of a FINAL invoice; empty when none does. */
export const ruleChanges = (row: Pick<InvoiceRow, 'billing_type'>, differences: readonly Difference[]): string[] =>
  CHANGES.filter(({ explains }) => differences.some(difference => explains(difference, row))).map(({ text }) => text)
