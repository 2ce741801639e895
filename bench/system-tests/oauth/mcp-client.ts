// What an application built on the official MCP client keeps for its user: its registration, its tokens, and a way to send
// the user's browser somewhere.
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  OAuthClientInformationFull,
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'

/** The state of one application in memory. `visit` sends the user's browser and gives the address it came back with. */
export class MemoryClient implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:51763/oauth/callback'
  readonly clientMetadata: OAuthClientMetadata
  /** The last answer the browser brought back. */
  answer: URL | null = null
  registration: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  readonly forgotten: string[] = []
  #verifier = ''
  readonly #visit: (url: URL) => Promise<URL>

  constructor(name: string, visit: (url: URL) => Promise<URL>) {
    this.clientMetadata = {
      client_name: name,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      software_id: 'an application of the tests',
    }
    this.#visit = visit
  }

  state(): string {
    return 'a state of the application'
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.registration
  }

  saveClientInformation(registration: OAuthClientInformationFull): void {
    this.registration = registration
  }

  tokens(): OAuthTokens | undefined {
    return this.kept
  }

  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.answer = await this.#visit(url)
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    this.forgotten.push(scope)
    if (scope === 'all' || scope === 'client') this.registration = undefined
    if (scope === 'all' || scope === 'tokens') this.kept = undefined
  }
}
