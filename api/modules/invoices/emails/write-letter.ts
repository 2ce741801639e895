// The letter that an invoice is sent with, as plain text and as HTML, in the language of the customer.
import { isMailAddress } from '../../../../shared/mail/transport.ts'
import { escaped } from '../../../docs-pages/html.ts'
import { describeInvoice } from '../rendering/model/describe-invoice.ts'
import type { Fact } from '../rendering/model/document-model.ts'
import { customerOf, issuerOf } from '../rendering/model/parties.ts'
import type { DocumentSource } from '../rendering/render-document.ts'
import { localeOf } from '../rendering/words/words.ts'
import { isCreditNote } from '../settlement/settlement.ts'
import { sentencesOf } from './words.ts'

type WrittenLetter = {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The address of the billing entity; null where it has none. */
  readonly replyTo: string | null
}

/** The letter for a FINAL invoice or credit note with its lines. Pure: the same invoice gives the same letter. */
export function writeLetter({ invoice, presentation }: DocumentSource): WrittenLetter {
  const model = describeInvoice(invoice, presentation)
  const number = model.number ?? ''
  const sentences = sentencesOf(localeOf(customerOf(invoice).locale))
  const opening = sentences[isCreditNote(invoice) ? 'creditNote' : 'invoice'](number, model.issuer)
  const facts = [...model.facts, ...(model.due ? [model.due] : [])]
  const { accounts, links } = model.payment
  const blocks = [facts, ...accounts.map(account => account.facts), links].filter(block => block.length > 0)
  const stamp = model.stamp?.text
  const { email } = issuerOf(invoice)
  return {
    subject: oneLine(`${model.title} – ${model.issuer}`),
    text: `${[opening, ...(stamp ? [stamp] : []), ...blocks.map(asText)].join('\n\n')}\n`,
    html: [
      `<!doctype html><html lang="${escaped(model.locale)}"><head><meta charset="utf-8"><title>${escaped(model.title)}</title></head>`,
      `<body style="font-family:sans-serif;color:#222"><p dir="auto">${escaped(opening)}</p>`,
      ...(stamp ? [`<p><strong>${escaped(stamp)}</strong></p>`] : []),
      ...blocks.map(asTable),
      '</body></html>\n',
    ].join('\n'),
    replyTo: email !== null && email !== undefined && isMailAddress(email) ? email : null,
  }
}

/** A name may be any text: what ends a line would begin a header of its own. */
const oneLine = (text: string): string => text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()

const asText = (facts: readonly Fact[]): string =>
  facts.map(({ label, value }) => `${oneLine(label)}: ${oneLine(value)}`).join('\n')

const CELL = 'style="padding:2px 16px 2px 0;text-align:start;vertical-align:top"'

function asTable(facts: readonly Fact[]): string {
  const rows = facts.map(({ label, value }) => {
    const shown = /^https?:\/\//.test(value)
      ? `<a href="${escaped(value)}">${escaped(value)}</a>`
      : `<bdi>${escaped(value)}</bdi>`
    return `<tr><th scope="row" ${CELL}>${escaped(label)}</th><td ${CELL}>${shown}</td></tr>`
  })
  return `<table style="border-collapse:collapse;margin:16px 0">${rows.join('')}</table>`
}
