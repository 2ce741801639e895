// What refreshes made of the content of a FINAL invoice. Pure.

import type { CopiedFieldView, InvoiceContent } from '../schema.ts'
import type { Refreshed } from '../snapshot/invoice-snapshot.ts'
import type { InvoiceRow } from '../table.ts'
import { splitIssuedTax } from './split-issued-tax.ts'

/** The content with these copied custom fields instead of its own. */
function withFields(content: InvoiceContent, fields: readonly CopiedFieldView[]): InvoiceContent {
  const { other_custom_fields: _before, ...others } = content
  return fields.length === 0 ? others : { ...others, other_custom_fields: [...fields] }
}

/** The content as these refreshes of the FINAL invoice left it. */
export function contentAfter(
  content: InvoiceContent,
  { billing_currency: currency }: Pick<InvoiceRow, 'billing_currency'>,
  refreshes: readonly Refreshed[],
): InvoiceContent {
  let after = content
  for (const each of refreshes)
    after =
      each.part === 'CUSTOM_FIELD'
        ? withFields(after, each.fields)
        : // Where the split no longer fits, the difference is shown.
          (splitIssuedTax({ content: after, currency }, each.decision) ?? after)
  return after
}
