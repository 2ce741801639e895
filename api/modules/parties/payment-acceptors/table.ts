import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { BankAccount, CustomRedirect } from './schema.ts'

export const paymentAcceptors = pgTable('payment_acceptors', {
  ...tenantColumns<'paya'>(),
  billing_entity_id: text().$type<Id<'bill'>>().notNull(),
  reference: text().notNull(),
  name: text(),
  description: text(),
  type: text().$type<'BANK_ACCOUNT' | 'CUSTOM_REDIRECT'>().notNull(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'>().notNull(),
  bank_account: wireJson<BankAccount>(),
  custom_redirect: wireJson<CustomRedirect>(),
})

export type PaymentAcceptor = typeof paymentAcceptors.$inferSelect
