// What is known of each currency beside its decimal places: its number in ISO 4217 and the countries that use it as their own. Generated
// from currency-codes 2.2.0, amendments 176 (XCG) of ISO 4217, and country-to-currency 3.0.1; when ISO amends one, amend it here.
// XCG has the number of ANG, which it replaces.
import { currencyDecimals } from './iso-codes.ts'

const FACTS = `
  AED 784 AE; AFN 971 AF; ALL 008 AL; AMD 051 AM; ANG 532; AOA 973 AO; ARS 032 AR; AUD 036 AU CC CX HM KI NF NR TV; AWG 533 AW;
  AZN 944 AZ; BAM 977 BA; BBD 052 BB; BDT 050 BD; BGN 975; BHD 048 BH; BIF 108 BI; BMD 060 BM; BND 096 BN; BOB 068 BO; BOV 984;
  BRL 986 BR; BSD 044 BS; BTN 064 BT; BWP 072 BW; BYN 933 BY; BZD 084 BZ; CAD 124 CA; CDF 976 CD; CHE 947; CHF 756 CH LI; CHW 948;
  CLF 990; CLP 152 CL; CNY 156 CN; COP 170 CO; COU 970; CRC 188 CR; CUC 931; CUP 192 CU; CVE 132 CV; CZK 203 CZ; DJF 262 DJ;
  DKK 208 DK FO GL; DOP 214 DO; DZD 012 DZ; EGP 818 EG; ERN 232 ER; ETB 230 ET;
  EUR 978 AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA YT; FJD 242 FJ;
  FKP 238 FK GS; GBP 826 GB GG IM JE; GEL 981 GE; GHS 936 GH; GIP 292 GI; GMD 270 GM; GNF 324 GN; GTQ 320 GT; GYD 328 GY; HKD 344 HK;
  HNL 340 HN; HTG 332 HT; HUF 348 HU; IDR 360 ID; ILS 376 IL PS; INR 356 IN; IQD 368 IQ; IRR 364 IR; ISK 352 IS; JMD 388 JM;
  JOD 400 JO; JPY 392 JP; KES 404 KE; KGS 417 KG; KHR 116 KH; KMF 174 KM; KPW 408 KP; KRW 410 KR; KWD 414 KW; KYD 136 KY; KZT 398 KZ;
  LAK 418 LA; LBP 422 LB; LKR 144 LK; LRD 430 LR; LSL 426 LS; LYD 434 LY; MAD 504 EH MA; MDL 498 MD; MGA 969 MG; MKD 807 MK;
  MMK 104 MM; MNT 496 MN; MOP 446 MO; MRU 929 MR; MUR 480 MU; MVR 462 MV; MWK 454 MW; MXN 484 MX; MXV 979; MYR 458 MY; MZN 943 MZ;
  NAD 516 NA; NGN 566 NG; NIO 558 NI; NOK 578 BV NO SJ; NPR 524 NP; NZD 554 CK NU NZ PN TK; OMR 512 OM; PAB 590 PA; PEN 604 PE;
  PGK 598 PG; PHP 608 PH; PKR 586 PK; PLN 985 PL; PYG 600 PY; QAR 634 QA; RON 946 RO; RSD 941 RS; RUB 643 RU; RWF 646 RW; SAR 682 SA;
  SBD 090 SB; SCR 690 SC; SDG 938 SD; SEK 752 SE; SGD 702 SG; SHP 654 SH; SLE 925 SL; SOS 706 SO; SRD 968 SR; SSP 728 SS; STN 930 ST;
  SVC 222; SYP 760 SY; SZL 748 SZ; THB 764 TH; TJS 972 TJ; TMT 934 TM; TND 788 TN; TOP 776 TO; TRY 949 TR; TTD 780 TT; TWD 901 TW;
  TZS 834 TZ; UAH 980 UA; UGX 800 UG; USD 840 AQ AS BQ EC FM GU IO MH MP PR PW SV TC TL UM US VG VI; USN 997; UYI 940; UYU 858 UY;
  UYW 927; UZS 860 UZ; VED 926; VES 928 VE; VND 704 VN; VUV 548 VU; WST 882 WS; XAF 950 CF CG CM GA GQ TD;
  XCD 951 AG AI DM GD KN LC MS VC; XCG 532 CW SX; XOF 952 BF BJ CI GW ML NE SN TG; XPF 953 NC PF WF; YER 886 YE; ZAR 710 ZA;
  ZMW 967 ZM; ZWG 924 ZW;`

export type CurrencyFacts = {
  readonly code: string
  readonly numeric: number
  /** Decimal places. */
  readonly exponent: number
  /** As it is written in English, such as `€`; the code where it has none. */
  readonly sign: string
  readonly name: string
  readonly countries: readonly { readonly code: string; readonly name: string }[]
}

const NAMES = new Intl.DisplayNames('en', { type: 'currency' })
const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' })

const signOf = (currency: string): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')?.value ?? currency

let list: readonly CurrencyFacts[] | null = null

/** Every currency in which something can be billed, by code. */
export function currencyList(): readonly CurrencyFacts[] {
  list ??= FACTS.split(';').flatMap(text => {
    const [code, numeric, ...countries] = text.trim().split(/\s+/)
    if (!code) return []
    return [
      {
        code,
        numeric: Number(numeric),
        exponent: currencyDecimals(code) ?? 0,
        sign: signOf(code),
        name: NAMES.of(code) ?? code,
        countries: countries.map(country => ({ code: country, name: COUNTRY_NAMES.of(country) ?? country })),
      },
    ]
  })
  return list
}
