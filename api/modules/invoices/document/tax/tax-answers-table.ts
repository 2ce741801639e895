import { boolean, date, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import type { EngineAnswer, EngineQuestion } from '../../../../../shared/billing/tax/tax-engine.ts'
import type { Id } from '../../../../../shared/ids.ts'
import { wireJson } from '../../../../resource/columns.ts'

export const taxAnswers = pgTable('tax_answers', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  /** Of the question. */
  key: text().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  billing_entity_id: text().$type<Id<'bill'>>().notNull(),
  /** The day that the question is about. */
  on_day: date({ mode: 'string' }).notNull(),
  question: wireJson<EngineQuestion>().notNull(),
  /** The latest day as of which an invoice needs an answer. */
  needed_on: date({ mode: 'string' }).notNull(),
  answer: wireJson<EngineAnswer>(),
  /** The day as of which the answer was given. */
  as_of: date({ mode: 'string' }),
  /** Why the last attempt gave no answer. */
  fault: text(),
  attempts: integer().notNull().default(0),
  next_attempt_at: timestamp({ withTimezone: true, mode: 'string' }),
  created_at: timestamp({ withTimezone: true, mode: 'string' }).notNull(),
  /** Whether invoices that wait have yet to be computed with the answer, or with a new fault. */
  to_compute: boolean().notNull().default(false),
  /** Not before then. */
  compute_at: timestamp({ withTimezone: true, mode: 'string' }),
})
