// Refusals of the OAuth endpoints, by the names their specifications give them.

const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_scope: 400,
  invalid_target: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  access_denied: 403,
  temporarily_unavailable: 503,
} as const

export type OAuthErrorName = keyof typeof STATUS

/** A refusal that the client gets: `{error, error_description}` (RFC 6749, 7591). */
export class OAuthError extends Error {
  readonly error: OAuthErrorName
  readonly retryAfterSeconds: number | null

  constructor(error: OAuthErrorName, description: string, retryAfterSeconds: number | null = null) {
    super(description)
    this.name = 'OAuthError'
    this.error = error
    this.retryAfterSeconds = retryAfterSeconds
  }

  get status(): number {
    return STATUS[this.error]
  }

  toBody(): { error: OAuthErrorName; error_description: string } {
    return { error: this.error, error_description: this.message }
  }
}
