// Prepaid and granted value of customers and how it is spent: wallet types, wallets, grants, and their ledger.
import { NAMED_BELOW } from '../../resource/above.ts'
import { FILE_SECTIONS } from '../../resource/file-sections.ts'
import { onSeeded, type RouteFixture, seededView } from '../../resource/routes/route-fixture.ts'
import { extend } from '../../resource/rules.ts'
import { CLOCK_STEPS } from '../../test-clock/clock-steps.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { FUNDS, INVOICE, INVOICE_CHARGES } from '../invoices/settlement/funds.ts'
import type { InvoiceRow } from '../invoices/table.ts'
import { balanceRoutes } from './balance/routes.ts'
import { WALLET_EVENTS } from './events.ts'
import { expireGrants } from './expiry/expire-grants.ts'
import { expiryJobs } from './expiry/jobs.ts'
import { grantRoutes } from './grants/routes.ts'
import { endLeases, leaseJobs } from './reservations/jobs.ts'
import { reservationRoutes } from './reservations/routes.ts'
import { RULE_GUARDS } from './rules/check-rules.ts'
import { followCharges } from './rules/follow-charges.ts'
import { walletFunds } from './spending/available-funds.ts'
import { followInvoice } from './spending/follow-invoice.ts'
import { autoTopUpResource } from './top-ups/auto-top-up-config.ts'
import { type TopUpJobDeps, topUpJobs } from './top-ups/jobs.ts'
import { topUpWallets } from './top-ups/top-up.ts'
import { walletResource } from './wallet.ts'
import { walletGrantResource } from './wallet-grant.ts'
import { walletTypeResource } from './wallet-type.ts'

const aWallet = onSeeded('WALLET')
const aGranted: RouteFixture = {
  params: seeded => ({ id: String(seededView(seeded, 'WALLET_GRANT')['wallet_id']) }),
}
const aReserved: RouteFixture = { params: seeded => ({ ...aGranted.params?.(seeded), reservation: 'tried' }) }

export const wallets = defineModule<ModuleRouteDeps, TopUpJobDeps>({
  name: 'wallets',
  otherObjectTypes: ['WALLET_RESERVATION'],
  events: [WALLET_EVENTS],
  // Only invoices are saved under these object types.
  effects: [
    {
      ...INVOICE,
      afterSave: async (uow, row, previous) =>
        await followInvoice(uow, row as InvoiceRow, previous as InvoiceRow | null),
    },
    {
      ...INVOICE_CHARGES,
      afterSave: async (uow, row, previous) =>
        await followCharges(uow, row as InvoiceRow, previous as InvoiceRow | null),
    },
  ],
  guards: RULE_GUARDS,
  extensions: [
    extend(FUNDS, walletFunds),
    extend(FILE_SECTIONS, { section: 'wallet_types', resource: walletTypeResource }),
    extend(NAMED_BELOW, walletTypeResource),
    // Before grants expire: what is released of an expired grant expires with the rest of it.
    extend(CLOCK_STEPS, { besideBilling: 'BEFORE', run: ({ database }, ...of) => endLeases(database, ...of) }),
    extend(CLOCK_STEPS, { besideBilling: 'BEFORE', run: ({ database }, ...of) => expireGrants(database, ...of) }),
    extend(CLOCK_STEPS, { besideBilling: 'AFTER', run: topUpWallets }),
  ],
  resources: [walletTypeResource, walletResource, walletGrantResource, autoTopUpResource],
  routes: (app, deps) => {
    grantRoutes(app, deps)
    balanceRoutes(app, deps)
    reservationRoutes(app, deps)
  },
  jobs: [...expiryJobs, ...leaseJobs, ...topUpJobs],
  fixtures: {
    'POST /v1/wallet-grants': {
      body: seeded => {
        const { customer_id, billing_entity_id, wallet_id } = seededView(seeded, 'WALLET_GRANT')
        return { customer_id, billing_entity_id, wallet_id, grant_amount: { quantity: '10', currency: 'EUR' } }
      },
    },
    'POST /v1/wallet-grants/:id/revert': onSeeded('WALLET_GRANT'),
    'POST /v1/wallets/:id/balance': { ...aWallet, body: () => ({}) },
    'POST /v1/customers/:id/wallets/balance': { ...onSeeded('CUSTOMER'), body: () => ({}) },
    'GET /v1/wallets/:id/transactions': aWallet,
    'GET /v1/wallets/:id/forecast': aWallet,
    'POST /v1/wallets/:id/reservations': {
      ...aGranted,
      body: () => ({ reference: 'tried', amount: { quantity: '1', currency: 'EUR' } }),
    },
    'POST /v1/wallets/:id/reservations/:reservation/commit': { ...aReserved, body: () => ({}) },
    'POST /v1/wallets/:id/reservations/:reservation/release': aReserved,
    'GET /v1/wallets/:id/reservations/:reservation': aReserved,
  },
})
