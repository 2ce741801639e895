// The e-invoice in the form that the library takes, which follows UBL. The library puts the members in their order.
import type { Invoice } from '@e-invoice-eu/core'
import { type Decimal, ONE, plain, ZERO } from '../../../../../shared/decimal.ts'
import { currencyExponent } from '../../../../../shared/money.ts'
import type { EInvoice, EInvoiceLine, EInvoiceParty, Vat } from './e-invoice-model.ts'

type Json = string | readonly Json[] | { readonly [name: string]: Json }
type Members = { readonly [name: string]: Json }

/** UNTDID 1001. */
const TYPE_CODES = { INVOICE: '380', CREDIT_NOTE: '381' } as const
const SELF_BILLED_TYPE_CODES = { INVOICE: '389', CREDIT_NOTE: '261' } as const
/** UNTDID 4461. */
const CREDIT_TRANSFER = '30'
const SEPA_CREDIT_TRANSFER = '58'

/** The input of the library; `profile` is the specification that the file follows (BT-24). */
export function toUbl(of: EInvoice, profile: string): Invoice {
  const { currency, totals } = of
  const money = moneyIn(currency)
  const invoice: Members = {
    'cbc:CustomizationID': profile,
    'cbc:ID': of.number,
    'cbc:IssueDate': of.issueDate,
    ...(of.dueDate === null ? {} : { 'cbc:DueDate': of.dueDate }),
    'cbc:InvoiceTypeCode': (of.selfBilled ? SELF_BILLED_TYPE_CODES : TYPE_CODES)[of.kind],
    ...(of.notes.length === 0 ? {} : { 'cbc:Note': [...of.notes] }),
    'cbc:DocumentCurrencyCode': currency,
    ...(of.taxInLocal === null ? {} : { 'cbc:TaxCurrencyCode': of.taxInLocal.currency }),
    ...(of.period === null ? {} : { 'cac:InvoicePeriod': days(of.period) }),
    ...(of.orderReference === null ? {} : { 'cac:OrderReference': { 'cbc:ID': of.orderReference } }),
    ...precedingOf(of),
    'cac:AccountingSupplierParty': { 'cac:Party': { ...party(of.seller), ...sellerOnly(of.seller) } },
    'cac:AccountingCustomerParty': { 'cac:Party': { ...party(of.buyer), ...buyerOnly(of.buyer) } },
    'cac:Delivery': { 'cbc:ActualDeliveryDate': of.deliveryDate },
    ...paymentOf(of),
    ...(of.paymentTerms === null ? {} : { 'cac:PaymentTerms': { 'cbc:Note': of.paymentTerms } }),
    ...adjustmentsOf(of),
    'cac:TaxTotal': [
      { ...money('cbc:TaxAmount', totals.tax), 'cac:TaxSubtotal': taxRows(of) },
      ...(of.taxInLocal === null ? [] : [moneyIn(of.taxInLocal.currency)('cbc:TaxAmount', of.taxInLocal.tax)]),
    ],
    'cac:LegalMonetaryTotal': {
      ...money('cbc:LineExtensionAmount', totals.lines),
      ...money('cbc:TaxExclusiveAmount', totals.net),
      ...money('cbc:TaxInclusiveAmount', totals.gross),
      ...(of.adjustments.length === 0
        ? {}
        : {
            ...money('cbc:AllowanceTotalAmount', totals.allowances),
            ...money('cbc:ChargeTotalAmount', totals.charges),
          }),
      ...(totals.prepaid.eq(ZERO) ? {} : money('cbc:PrepaidAmount', totals.prepaid)),
      ...money('cbc:PayableAmount', totals.payable),
    },
    'cac:InvoiceLine': of.lines.map((line, index) => lineOf(line, index, currency)),
  }
  // Its type lists every code of every list; the library checks them when it runs.
  return { 'ubl:Invoice': invoice } as unknown as Invoice
}

const moneyIn = (currency: string) => {
  const places = Math.min(currencyExponent(currency), 2)
  return (name: string, value: Decimal): Members => ({
    [name]: (value.eq(ZERO) ? ZERO : value).toFixed(places),
    [`${name}@currencyID`]: currency,
  })
}

const days = ({ first, last }: NonNullable<EInvoice['period']>): Members => ({
  'cbc:StartDate': first,
  'cbc:EndDate': last,
})

function precedingOf({ preceding }: EInvoice): Members {
  if (preceding === null) return {}
  const { number, date } = preceding
  const reference = { 'cbc:ID': number, ...(date === null ? {} : { 'cbc:IssueDate': date }) }
  return { 'cac:BillingReference': [{ 'cac:InvoiceDocumentReference': reference }] }
}

/** The members that are there. */
const given = (members: Readonly<Record<string, Json | null>>): Members =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== null))

const party = ({ name, registrationNumber, electronicAddress, email, address }: EInvoiceParty): Members => ({
  ...(electronicAddress === null
    ? {}
    : { 'cbc:EndpointID': electronicAddress.id, 'cbc:EndpointID@schemeID': electronicAddress.scheme }),
  'cac:PostalAddress': {
    ...given({
      'cbc:StreetName': address.line1,
      'cbc:AdditionalStreetName': address.line2,
      'cbc:CityName': address.city,
      'cbc:PostalZone': address.postalCode,
      'cbc:CountrySubentity': address.state,
    }),
    'cac:Country': { 'cbc:IdentificationCode': address.country },
  },
  'cac:PartyLegalEntity': { 'cbc:RegistrationName': name, ...given({ 'cbc:CompanyID': registrationNumber }) },
  ...(email === null ? {} : { 'cac:Contact': { 'cbc:ElectronicMail': email } }),
})

const taxScheme = (id: string, scheme: string): Members => ({
  'cbc:CompanyID': id,
  'cac:TaxScheme': { 'cbc:ID': scheme },
})

const sellerOnly = ({ reference, vatId, taxRegistration }: EInvoiceParty): Members => ({
  ...(reference === null ? {} : { 'cac:PartyIdentification': [{ 'cbc:ID': reference }] }),
  ...(vatId === null ? {} : { 'cac:PartyTaxScheme': [taxScheme(vatId, 'VAT')] }),
  ...(taxRegistration === null ? {} : { 'cac:PartyTaxScheme': [taxScheme(taxRegistration, 'TAX')] }),
})

const buyerOnly = ({ reference, vatId }: EInvoiceParty): Members => ({
  ...(reference === null ? {} : { 'cac:PartyIdentification': { 'cbc:ID': reference } }),
  ...(vatId === null ? {} : { 'cac:PartyTaxScheme': taxScheme(vatId, 'VAT') }),
})

function paymentOf({ accounts, currency, number }: EInvoice): Members {
  if (accounts.length === 0) return {}
  return {
    'cac:PaymentMeans': accounts.map(({ iban, holder, bic }) => ({
      'cbc:PaymentMeansCode': currency === 'EUR' ? SEPA_CREDIT_TRANSFER : CREDIT_TRANSFER,
      'cbc:PaymentID': number,
      'cac:PayeeFinancialAccount': {
        'cbc:ID': iban,
        'cbc:Name': holder,
        ...(bic === null ? {} : { 'cac:FinancialInstitutionBranch': { 'cbc:ID': bic } }),
      },
    })),
  }
}

const taxCategory = ({ category, rate }: Vat): Members => ({
  'cbc:ID': category,
  ...(rate === null ? {} : { 'cbc:Percent': plain(rate) }),
  'cac:TaxScheme': { 'cbc:ID': 'VAT' },
})

function adjustmentsOf({ adjustments, currency }: EInvoice): Members {
  if (adjustments.length === 0) return {}
  return {
    'cac:AllowanceCharge': adjustments.map(({ kind, reason, amount, vat }) => ({
      'cbc:ChargeIndicator': String(kind === 'CHARGE'),
      'cbc:AllowanceChargeReason': reason,
      ...moneyIn(currency)('cbc:Amount', amount),
      'cac:TaxCategory': taxCategory(vat),
    })),
  }
}

const taxRows = ({ vat: rows, currency }: EInvoice): Members[] =>
  rows.map(({ vat, base, tax, reason, reasonCode }) => ({
    ...moneyIn(currency)('cbc:TaxableAmount', base),
    ...moneyIn(currency)('cbc:TaxAmount', tax),
    'cac:TaxCategory': {
      ...taxCategory(vat),
      ...given({ 'cbc:TaxExemptionReasonCode': reasonCode, 'cbc:TaxExemptionReason': reason }),
    },
  }))

const lineOf = (line: EInvoiceLine, index: number, currency: string): Members => ({
  'cbc:ID': String(index + 1),
  ...given({ 'cbc:Note': line.note }),
  'cbc:InvoicedQuantity': plain(line.quantity),
  'cbc:InvoicedQuantity@unitCode': line.unitCode,
  ...moneyIn(currency)('cbc:LineExtensionAmount', line.net),
  ...(line.period === null ? {} : { 'cac:InvoicePeriod': days(line.period) }),
  'cac:Item': { 'cbc:Name': line.name, 'cac:ClassifiedTaxCategory': taxCategory(line.vat) },
  'cac:Price': {
    'cbc:PriceAmount': plain(line.price),
    'cbc:PriceAmount@currencyID': currency,
    ...(line.baseQuantity.eq(ONE)
      ? {}
      : { 'cbc:BaseQuantity': plain(line.baseQuantity), 'cbc:BaseQuantity@unitCode': line.unitCode }),
  },
})
