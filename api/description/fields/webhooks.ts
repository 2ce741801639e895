// Fields of webhooks, their events and attempts.

const AUTHENTICATION =
  'PASSWORD: basic authentication with `username` and `password`. API_KEY: `api_key` in the header `api_header_field`. NONE: neither. Follows from the credentials that are sent.'
const PASSWORD = 'Of basic authentication. Answers show `********` when it is set.'
const API_KEY = 'The value of the header. Answers show `********` when it is set.'

export const WEBHOOKS: Readonly<Record<string, string>> = {
  authentication_type: AUTHENTICATION,
  password: PASSWORD,
  api_key: API_KEY,
  signing_protocol: 'v1 while deliveries are signed: HMAC-SHA256, as the page on webhooks describes.',
  previous_signing_protocol: 'v1 while the previous secret also signs.',
  'PenaltyBoxData.retry_at': 'When the next attempt is made.',
  secret_rolled_at: 'When the secret was last made or rolled. Null: there is none.',
  previous_secret_valid_until: 'Until when the previous secret also signs.',
  last_attempt_at: 'When it was last sent. Null: it was not sent yet.',
  penalty_box_data: 'There while deliveries fail: how often, why, and when the next attempt is.',
}
