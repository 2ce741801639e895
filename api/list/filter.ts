// What a filter of a list says about itself.
import type { SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { TSchema } from 'typebox'
import type { ReadUow } from '../../shared/database/database.ts'

export type Filter<Column extends string = string> =
  | {
      /** `range` takes `[from,to]` of times, `boolean` true or false, `contains` one of the texts of a list. */
      readonly kind: 'equals' | 'equalsIgnoringCase' | 'oneOf' | 'range' | 'boolean' | 'contains'
      readonly column: Column
      readonly schema?: TSchema
      /** Another filter that says the same in another way: both together are refused. */
      readonly notWith?: string
    }
  | {
      /** By rows of another table. */
      readonly kind: 'related'
      readonly condition: (uow: ReadUow, values: readonly string[]) => SQL
      readonly schema: TSchema
    }

/** The condition that a value is admitted. */
export type SelectionCondition = (value: string) => SQL

/** A resource whose ids a column holds. */
export type NamedResource = {
  readonly table: PgTable & { platform_id: PgColumn; environment: PgColumn; id: PgColumn }
  readonly byReference: boolean
}

/** The object types that modules below name (api/resource/above.ts). */
export type TypeAbove = 'BILLING_ENTITY' | 'CUSTOMER' | 'PRICING_PLAN_SUBSCRIPTION' | 'WALLET_TYPE'

/** The resource, or the object type of one of a module above. */
export type Named = (() => NamedResource) | TypeAbove
