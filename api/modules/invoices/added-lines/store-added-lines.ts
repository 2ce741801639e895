// Every query of added lines, and of what they sell.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { type Id, idOf, idsOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { requireOpenTo } from '../../catalog/products/private-entries.ts'
import { productCategories, productItems, products } from '../../catalog/products/table.ts'
import { defaultTaxCategory, type InvoicingSettings } from '../document/parties.ts'
import type { AddedLine, SoldItem } from './price-added-line.ts'
import { invoiceAddedLines as a } from './table.ts'

const of = (uow: ReadUow, invoiceId: Id<'invo'>) => and(inThisTenant(uow, a), eq(a.invoice_id, invoiceId))
const one = (uow: ReadUow, invoiceId: Id<'invo'>, id: string) => and(of(uow, invoiceId), eq(a.id, id))

type Platform = Pick<InvoicingSettings, 'default_product_tax_category'>

/** The lines added to an invoice, in their order. */
export async function addedLinesOf(uow: ReadUow, invoiceId: string, platform: Platform): Promise<AddedLine[]> {
  return (await addedLinesOfMany(uow, [invoiceId], platform)).get(invoiceId) ?? []
}

/** The same for many invoices, by id; an invoice without such lines is absent. */
export async function addedLinesOfMany(
  uow: ReadUow,
  invoiceIds: readonly string[],
  platform: Platform,
): Promise<Map<string, AddedLine[]>> {
  if (invoiceIds.length === 0) return new Map()
  const rows = await uow.tx
    .select()
    .from(a)
    .where(and(inThisTenant(uow, a), anyOf(a.invoice_id, idsOf('invo', invoiceIds))))
    .orderBy(asc(a.created_at), asc(a.position), asc(a.id))
  const sold = await loadSold(
    uow,
    rows.flatMap(row => row.product_item_id ?? []),
    platform,
  )
  const lines = groupBy(rows, ({ invoice_id }) => invoice_id)
  return new Map(
    [...lines].map(([id, own]) => [
      id,
      own.map(({ id, line, product_item_id }) => ({ id, line, sold: sold.get(product_item_id ?? '') ?? null })),
    ]),
  )
}

/** These items, by id; items that the tenant does not have are absent. */
export async function loadSold(
  uow: ReadUow,
  itemIds: readonly string[],
  platform: Platform,
): Promise<Map<string, SoldItem>> {
  if (itemIds.length === 0) return new Map()
  const [i, p, c] = [productItems, products, productCategories]
  const rows = await uow.tx
    .select({ item: i, product: p, category: c })
    .from(i)
    .innerJoin(p, and(inThisTenant(uow, p), eq(p.id, i.product_id)))
    .leftJoin(c, and(inThisTenant(uow, c), eq(c.id, p.category_id)))
    .where(and(inThisTenant(uow, i), anyOf(i.id, idsOf('proi', new Set(itemIds)))))
  const fallback = defaultTaxCategory({ platform: platform as InvoicingSettings })
  return new Map(
    rows.map(({ item, product, category }) => [
      item.id,
      {
        item: {
          object_type: 'PRODUCT_ITEM',
          id: item.id,
          product_id: item.product_id,
          name: item.name,
          reference: item.reference,
          type: item.type,
          model_type: item.model_type,
        },
        product: { id: product.id, name: product.name },
        category: category && { id: category.id, name: category.name },
        taxCategory: item.tax_category ?? product.tax_category ?? category?.tax_category ?? fallback,
      },
    ]),
  )
}

/**
 * A line can only name an item that is sold: throws INVALID_FIELD for one that does not exist, is no longer used, is for
 * another customer alone, or is of a product that another billing entity alone sells.
 */
export async function requireSold(
  uow: Uow,
  id: Id<'proi'>,
  of: { readonly customerId: string; readonly billingEntityId: string; readonly field: string },
): Promise<void> {
  const { customerId, billingEntityId, field } = of
  const [row] = await uow.tx
    .select({
      id: productItems.id,
      status: productItems.status,
      customer_id: productItems.customer_id,
      soldBy: products.billing_entity_id,
    })
    .from(productItems)
    .innerJoin(products, and(inThisTenant(uow, products), eq(products.id, productItems.product_id)))
    .where(and(inThisTenant(uow, productItems), eq(productItems.id, id)))
    .for('share')
  if (!row) throw new AppError('INVALID_FIELD', `There is no PRODUCT_ITEM ${JSON.stringify(id)}.`, { field })
  if (row.status === 'DRAFT' || row.status === 'ARCHIVED')
    throw new AppError('INVALID_FIELD', `The product item is ${row.status}; name one that is ACTIVE.`, { field })
  requireOpenTo(customerId, row, { noun: 'product item', field })
  if (row.soldBy === null || row.soldBy === billingEntityId) return
  const message = `The billing entity ${row.soldBy} alone sells this product item; name one that all sell, or the item on an invoice of that.`
  throw new AppError('INVALID_FIELD', message, { field })
}

/** Stores lines at the end of the invoice. */
export async function insertAdded(uow: Uow, invoiceId: Id<'invo'>, lines: readonly AddedLine[]): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.insert(a).values(
    lines.map(({ id, line }, index) => ({
      platform_id: platformId,
      environment,
      invoice_id: invoiceId,
      id,
      created_at: formatInstant(uow.now),
      position: index,
      product_item_id: idOf('proi', line.product_item_id ?? null),
      line,
    })),
  )
}

/** Replaces a line; false when the invoice has none with this id. */
export async function replaceAdded(uow: Uow, invoiceId: Id<'invo'>, { id, line }: AddedLine): Promise<boolean> {
  const { rowCount } = await uow.tx
    .update(a)
    .set({ line, product_item_id: idOf('proi', line.product_item_id ?? null) })
    .where(one(uow, invoiceId, id))
  return rowCount === 1
}

/** Removes lines; false when the invoice lacks one of them. */
export async function deleteAdded(uow: Uow, invoiceId: Id<'invo'>, ids: readonly string[]): Promise<boolean> {
  const { rowCount } = await uow.tx.delete(a).where(and(of(uow, invoiceId), anyOf(a.id, [...ids])))
  return rowCount === ids.length
}
