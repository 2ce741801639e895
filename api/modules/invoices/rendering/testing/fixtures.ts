// Twenty documents with stored pictures: ten scripts, five languages, and extreme amounts, lengths and states.
import { eur, metered, recurring } from '../../../billing/testing/example-inputs.ts'
import type { Presentation } from '../model/presentation.ts'
import type { ExampleDocument } from './example-document.ts'

export type Fixture = ExampleDocument & { readonly presentation?: Presentation; readonly page?: number }

const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAEQAAAAUCAYAAAA0nZtFAAAABHNCSVQICAgIfAhkiAAAAAFzUkdCAK7OHOkAAABlSURBVFiF7de7DYAwDABRgtKF3cgkYRY2YTh66K+2+Uj3Boijk4uktLFeU6BzPyKPe9z89gW+xiBgEDAIGARq9oBl69kjQrkhYBAwCBgEDAIGAYNA+jvkb79fNwQMAgYBg4BB4AYBDwcoJnxsSwAAAABJRU5ErkJggg==',
  'base64',
)
export const BRANDED: Presentation = {
  accentColor: '#0b6e4f',
  logo: { type: 'image/png', content: LOGO },
  payment: [
    { kind: 'IBAN', holder: 'Millrace B.V.', iban: 'NL91ABNA0417164300', bic: 'ABNANL2A', bankName: 'ABN AMRO' },
    { kind: 'LINK', url: 'https://pay.example.com/i/1' },
  ],
  units: new Map([['item1', { singular: 'token', plural: 'tokens' }]]),
}

const bands = [{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.0812345') }]
const tiered = metered(bands, { pricing_type: 'TIERED' })
const items = [recurring('200'), tiered]
const PERCENT = { product_items: [{ ids: ['item0'], percentage: '10' }], totals: [{ amount: eur('15.00') }] }

const named = (legal_name: string, line1: string, country = 'NL') => ({
  organization: { legal_name, registered_address: { line1, city: 'X', country } },
})
const inScript = (name: string, street: string): Fixture => ({ items, customer: named(name, street), footnote: name })
const inLanguage = (locale: string, country: string): Fixture => ({
  items,
  schedules: [{ discount: PERCENT }],
  customer: { locale, ...named('Kunde', 'Street 1', country) },
  seller: { registration_number: '12345678', email: 'billing@example.com', tax_id: 'NL123456789B01' },
  presentation: BRANDED,
})
const many = Array.from({ length: 120 }, (_, index) => ({
  ...recurring(String(index + 1)),
  item: { name: `Seat ${index + 1}`, model_type: 'RECURRING' as const },
}))

export const FIXTURES: Readonly<Record<string, Fixture>> = {
  latin: inScript('Société Générale d’Électricité – Łódź, Ağrı, Đà Nẵng', 'Straße der Œuvre 1'),
  greek: inScript('Ελληνική Εταιρεία Υδάτων ΑΕ', 'Οδός Αθηνάς 12'),
  cyrillic: inScript('Общество Водоснабжение «Мельница»', 'ул. Тверская, 7'),
  arabic: inScript('شركة المياه العربية (فرع 2) 2026', 'شارع الملك فهد 15'),
  hebrew: inScript('חברת המים בע״מ (2026)', 'רחוב הרצל 5, תל אביב'),
  hindi: inScript('क्षत्रिय जल प्रौद्योगिकी प्राइवेट लिमिटेड', 'महात्मा गांधी मार्ग १२'),
  thai: inScript('บริษัท น้ำประปาไทย จำกัด (มหาชน)', 'ถนนสุขุมวิท แขวงคลองเตย'),
  chinese: inScript('北京流体科技有限公司', '朝阳区建国路八十八号'),
  japanese: inScript('株式会社ミルレース・ウォーター', '東京都千代田区丸の内一丁目'),
  korean: inScript('주식회사 밀레이스 한국지사', '서울특별시 강남구 테헤란로 1'),
  german: inLanguage('de-DE', 'DE'),
  french: inLanguage('fr-FR', 'FR'),
  dutch: inLanguage('nl-NL', 'NL'),
  spanish: inLanguage('es-ES', 'ES'),
  letter: { ...inLanguage('en-US', 'US'), row: { payment_status: 'PAID' } },
  draft: { items, row: { status: 'DRAFT', invoice_number: null } },
  void: { items, row: { status: 'VOID' } },
  'page-2-of-120-lines': { items: many, page: 2, presentation: BRANDED },
  'nothing-charged': { items: [recurring('0')] },
  'long-words': {
    items: [
      {
        ...tiered,
        item: { name: 'Überraschung'.repeat(12), model_type: 'USAGE_BASED', meter_value_calculation_id: 'calc' },
      },
      recurring('123456789012345.67'),
    ],
    customer: named('W'.repeat(300), 'x'.repeat(200)),
    usage: '98765432109876543210.123456789',
  },
}
