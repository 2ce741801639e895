// What operations do beyond their summary, by operation id. A module may say it of its own operations; those that every resource
// shares have theirs in standard-texts.ts.
import { OPERATION_TEXTS as TEXTS_OF_MODULES } from '../../modules/modules.ts'
import { ACCESS_OPERATIONS } from './access.ts'
import { CATALOG_OPERATIONS } from './catalog.ts'
import { INVOICES_OPERATIONS } from './invoices.ts'
import { PARTIES_OPERATIONS } from './parties.ts'
import { SUBSCRIPTIONS_OPERATIONS } from './subscriptions.ts'
import { USAGE_OPERATIONS } from './usage.ts'
import { WALLETS_OPERATIONS } from './wallets.ts'
import { WEBHOOKS_OPERATIONS } from './webhooks.ts'

export const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  ...ACCESS_OPERATIONS,
  ...CATALOG_OPERATIONS,
  ...INVOICES_OPERATIONS,
  ...PARTIES_OPERATIONS,
  ...SUBSCRIPTIONS_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...WALLETS_OPERATIONS,
  ...WEBHOOKS_OPERATIONS,
  ...TEXTS_OF_MODULES,
}
