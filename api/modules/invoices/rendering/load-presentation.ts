// Reads what the documents of an invoice show besides it. Logo and colour are those of the time when it became FINAL;
// how to pay and the names of units are current, because they are not part of what was issued.
import { and } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { productItems } from '../../catalog/products/table.ts'
import type { PaymentAcceptor } from '../../parties/payment-acceptors/table.ts'
import { brandingAt } from '../../parties/platforms/branding-history.ts'
import { wholeInvoice } from '../answer.ts'
import { getInvoice } from '../repository.ts'
import type { InvoiceView } from '../schema.ts'
import { acceptorsOf } from '../settlement/payment-actions.ts'
import { issuerOf } from './model/parties.ts'
import type { Logo, PaymentInstruction, Presentation, UnitName } from './model/presentation.ts'
import type { DocumentSource } from './render-document.ts'

/** An invoice with everything that its documents show. Throws RESOURCE_NOT_FOUND. */
export async function loadDocument(uow: ReadUow, id: Id<'invo'>): Promise<DocumentSource> {
  const invoice = await wholeInvoice(uow, await getInvoice(uow, id))
  return { invoice, presentation: await loadPresentation(uow, invoice) }
}

/** Logo and colour of the platform, the ACTIVE payment acceptors of the billing entity, and the units of the items sold. */
async function loadPresentation(uow: ReadUow, invoice: InvoiceView): Promise<Presentation> {
  const branding = await brandingAt(uow, invoice.updated_to_final_at)
  return {
    accentColor: branding.colors?.primary ?? null,
    logo: branding.logo ? logoOf(branding.logo) : null,
    payment: await paymentOf(uow, invoice),
    units: await unitsOf(uow, invoice),
  }
}

const logoOf = ({ content_type, content }: { content_type: Logo['type']; content: string }): Logo => ({
  type: content_type,
  content: Buffer.from(content, 'base64'),
})

async function paymentOf(uow: ReadUow, invoice: InvoiceView): Promise<PaymentInstruction[]> {
  const rows = await acceptorsOf(uow, invoice)
  const seller = issuerOf(invoice)
  return rows.flatMap(row => instructionOf(row, seller.legal_name ?? seller.reference))
}

function instructionOf(
  { bank_account: bank, custom_redirect: link }: PaymentAcceptor,
  holder: string,
): PaymentInstruction[] {
  if (bank) {
    return [{ kind: 'IBAN', holder, iban: bank.iban, bic: bank.bic ?? null, bankName: bank.bank_name ?? null }]
  }
  return link ? [{ kind: 'LINK', url: link.url }] : []
}

async function unitsOf(uow: ReadUow, { periods = [] }: InvoiceView): Promise<ReadonlyMap<string, UnitName>> {
  const lines = periods.flatMap(({ groups }) => groups.flatMap(group => group.lines ?? []))
  const ids = [...new Set(lines.flatMap(({ product_items }) => product_items.map(({ id }) => id)))]
  if (ids.length === 0) return new Map()
  const rows = await uow.tx
    .select({ id: productItems.id, unit: productItems.unit_name })
    .from(productItems)
    .where(and(inThisTenant(uow, productItems), anyOf(productItems.id, idsOf('proi', ids))))
  return new Map(
    rows.flatMap(({ id, unit }) => {
      const plural = unit?.plural ?? unit?.singular
      return plural ? [[id, { singular: unit?.singular ?? plural, plural }] as const] : []
    }),
  )
}
