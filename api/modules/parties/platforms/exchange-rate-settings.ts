// Where a platform takes its reference rates from, and what the last fetch found.
import Type, { type Static } from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { parseUrl } from '../../../../shared/parse-url.ts'
import { Nullable, Optional, Shape } from '../../../resource/shapes.ts'
import { Source } from '../exchange-rates/schema.ts'

const URL_MAX = 2_000

export const ExchangeRateSettings = Shape({
  url: Optional(Nullable(Type.String({ maxLength: URL_MAX }))),
  source: Optional(Nullable(Source)),
  overwrite: Optional(Nullable(Type.Boolean())),
})
export type ExchangeRateSettings = Static<typeof ExchangeRateSettings>

export const ExchangeRateStatus = Type.Object(
  {
    attempted_at: Type.String(),
    next_attempt_at: Type.String(),
    rates_of: Nullable(Type.String()),
    fault: Nullable(Type.String()),
  },
  { title: 'ExchangeRateStatus' },
)
export type ExchangeRateStatus = Static<typeof ExchangeRateStatus>

/**
 * Throws INVALID_FIELD for an address that is not of the web, or holds a user or a password. Whether the installation may ask it is
 * judged at each attempt.
 */
export function checkFeedSettings({ url }: ExchangeRateSettings): void {
  if (url === null || url === undefined) return
  const parsed = parseUrl(url)
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  if (parsed && isWeb && parsed.username === '' && parsed.password === '' && !/[\s\\]/.test(url)) return
  throw new AppError('INVALID_FIELD', 'Give a URL that begins with https://, without a user or a password.', {
    field: 'exchange_rate_settings.url',
  })
}
