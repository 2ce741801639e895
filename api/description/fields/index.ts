// Every text about a field: by its name, by `Component.name` where a name means several things, and by `Component.` for the whole.
import { ACCESS } from './access.ts'
import { CATALOG } from './catalog.ts'
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

export const FIELD_TEXTS: Readonly<Record<string, string>> = {
  ...ACCESS,
  ...EXPLANATIONS,
  ...INVOICES,
  ...INVOICE_LINES,
  ...INVOICE_ACTIONS,
  ...CATALOG,
  ...SUBSCRIPTIONS,
  ...USAGE,
  ...PARTIES,
  ...WALLETS,
  ...COUPONS,
  ...WEBHOOKS,
  ...COMMON,
}
