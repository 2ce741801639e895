// Features that entitlements name stay, and so do the values they grant. Lists of entitlements carry no foreign keys.
import { sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { AppError } from '../../../../shared/errors.ts'
import type { TenantTable } from '../../../resource/define-resource.ts'
import { beforeSave, containing, type Guard, type Naming, namedBy } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { featureResource } from './feature.ts'

type Granting = Pick<Naming, 'noun'> & { readonly table: TenantTable & { readonly entitlements: PgColumn } }

/** For whatever has entitlements. */
export const entitlementsIn = ({ table, noun }: Granting): readonly Guard[] => {
  const names = containing(table.entitlements, id => [{ feature_id: id }])
  return [namedBy(featureResource, { table, noun, names }), keepGrantedValues({ table, noun, names })]
}

/** Throws INVALID_FIELD when a value that an entitlement grants would go. Whoever saves entitlements locks the features they name. */
const keepGrantedValues = ({ table, noun, names }: Naming & Granting): Guard =>
  beforeSave(featureResource, async (uow, feature, previous) => {
    const lost = (previous?.enum_values ?? []).filter(value => !feature.enum_values?.includes(value))
    if (lost.length === 0) return
    const { rows } = await uow.tx.execute<{ id: string; value: string }>(sql`
      select ${table.id} as id, e ->> 'enum' as value from ${table}, jsonb_array_elements(${table.entitlements}) e
      where ${inThisTenant(uow, table)} and ${table.entitlements} <> '[]' and ${names(feature.id)}
        and e ->> 'feature_id' = ${feature.id} and e ->> 'enum' = any(${sql.param(lost)}::text[])
      limit 1`)
    const [place] = rows
    if (!place) return
    const message = `${JSON.stringify(place.value)} cannot be removed: the ${noun} ${place.id} grants it.`
    throw new AppError('INVALID_FIELD', message, { field: 'enum_values' })
  })
