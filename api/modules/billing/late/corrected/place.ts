// Where the run of billing has late usage of FINAL invoices corrected. The run does not know how an invoice is priced
// again: that registers here.
import type { Database } from '../../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../../shared/failpoint.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import type { Place } from '../../../../resource/rules.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'

type Deps = { readonly database: Database; readonly usage: UsageReader; readonly failpoint?: Failpoints }

/** Prepares the corrections of the FINAL invoices of one subscription, or brings them up to date. */
type PrepareCorrections = (deps: Deps, tenant: Tenant, inputs: BillingInputs) => Promise<void>

export const CORRECTIONS: Place<PrepareCorrections> = { name: 'corrections of late usage' }
