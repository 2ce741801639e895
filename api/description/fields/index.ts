// Every text about a field: by its name, by `Component.name` where a name means several things, and by `Component.` for the whole.
import { ACCESS } from './access.ts'
import { APPROVALS } from './approvals.ts'
import { CATALOG } from './catalog.ts'
import { CLAUSES } from './clauses.ts'
import { COMMON } from './common.ts'
import { COUPONS } from './coupons.ts'
import { EXPLANATIONS } from './explanations.ts'
import { INVOICE_ACTIONS } from './invoice-actions.ts'
import { INVOICE_LINES } from './invoice-lines.ts'
import { INVOICES } from './invoices.ts'
import { PARTIES } from './parties.ts'
import { SUBSCRIPTIONS } from './subscriptions.ts'
import { USAGE } from './usage.ts'
import { WALLETS } from './wallets.ts'
import { WEBHOOKS } from './webhooks.ts'

/** The texts of all groups. Throws when two groups have a text for one field: one of them would be lost. */
function together(groups: readonly Readonly<Record<string, string>>[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [field, text] of groups.flatMap(group => Object.entries(group))) {
    if (texts[field] !== undefined) throw new Error(`two texts for the field ${field}: give each its component`)
    texts[field] = text
  }
  return texts
}

export const FIELD_TEXTS = together([
  ACCESS,
  APPROVALS,
  EXPLANATIONS,
  INVOICES,
  INVOICE_LINES,
  INVOICE_ACTIONS,
  CATALOG,
  SUBSCRIPTIONS,
  USAGE,
  PARTIES,
  WALLETS,
  COUPONS,
  CLAUSES,
  WEBHOOKS,
  COMMON,
])
