// The codes of ISO 4217 and ISO 3166-1, the one place that knows which currencies and countries there are. Generated from ISO 4217 list
// one (published 2024-06-25, as in currency-codes 2.2.0, and XCG of amendment 176) and from iso-3166 4.4.0; when ISO amends one, amend it
// here. Codes without a minor unit (metals, XXX, XTS) are no currency in which anything is billed.

const BY_DECIMALS: readonly (readonly [decimals: number, codes: string])[] = [
  [
    0,
    `
    BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`,
  ],
  [
    2,
    `
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
    CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
    GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN
    QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD
    TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  ],
  [
    3,
    `
    BHD IQD JOD KWD LYD OMR TND`,
  ],
  [
    4,
    `
    CLF UYW`,
  ],
]

const COUNTRIES = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT
  BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH
  ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT
  HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS
  LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI
  NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG
  SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG
  UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`

const wordsOf = (text: string): string[] => text.trim().split(/\s+/)

/** Decimal places by currency. */
const DECIMALS: ReadonlyMap<string, number> = new Map(
  BY_DECIMALS.flatMap(([decimals, codes]) => wordsOf(codes).map((code): [string, number] => [code, decimals])),
)
const COUNTRY_CODES: ReadonlySet<string> = new Set(wordsOf(COUNTRIES))

/** Every currency in which something can be billed, and every country. */
export const CURRENCY_LIST: readonly string[] = [...DECIMALS.keys()]
export const COUNTRY_LIST: readonly string[] = [...COUNTRY_CODES]

/** Whether it is the code of a currency of ISO 4217 in which something can be billed. */
export const isCurrency = (code: string): boolean => DECIMALS.has(code)

/** Decimal places of a currency; null for a code that is none. */
export const currencyDecimals = (code: string): number | null => DECIMALS.get(code) ?? null

/** Whether it is an officially assigned alpha-2 code of ISO 3166-1. */
export const isCountry = (code: string): boolean => COUNTRY_CODES.has(code)
