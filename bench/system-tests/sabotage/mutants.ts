// Faults of our own making in the way in: each takes away one defence, in the words of the source, and names the tests that
// must notice. A defence that is held twice is taken away in both places, or nothing would change.

type Edit = { readonly file: string; readonly from: string; readonly to: string }

export type Mutant = {
  readonly edits: readonly Edit[]
  /** A test file that must fail, and a part of the names of the tests in it that are worth running. */
  readonly caughtBy: { readonly file: string; readonly tests: string }
}

const OAUTH = 'identity/oauth.it.test.ts'
const TOKENS = 'identity/tokens.it.test.ts'
const BEARER = 'api/access/bearer.it.test.ts'
const MODEL = { file: 'identity/grants/decide.test.ts', tests: 'in any order' }
const CODE = 'identity/grants/authorization-code.ts'
const DECIDE = 'identity/grants/decide.ts'
const REQUESTS = 'identity/store/requests.ts'
const VERIFY = 'api/access/verify-access-token.ts'
const AUTHENTICATE = 'api/http/authenticate.ts'
const CONSENT = 'identity/consent/routes.ts'

/** The twelve that the issue asks for, and those that an attacker would try next. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'the proof key is not checked': {
    edits: [
      {
        file: 'identity/checks/pkce.ts',
        from: 'return actual.length === expected.length && timingSafeEqual(actual, expected)',
        to: 'return actual.length > 0 || timingSafeEqual(actual, expected)',
      },
    ],
    caughtBy: { file: TOKENS, tests: 'a code is bound to its client' },
  },
  'a code redeems again': {
    edits: [
      { file: CODE, from: 'used_at is not null as used', to: 'false as used' },
      { file: CODE, from: 'and used_at is null and', to: 'and' },
    ],
    caughtBy: { file: TOKENS, tests: 'a code redeems once under fifty' },
  },
  'a replayed code ends nothing': {
    edits: [{ file: DECIDE, from: "return refuse('revoke-grant')", to: "return refuse('nothing')" }],
    caughtBy: { file: TOKENS, tests: 'a code redeems once under fifty' },
  },
  'a redirect address matches by its beginning': {
    edits: [
      {
        file: 'identity/checks/redirect-uri.ts',
        from: 'if (registered.includes(requested)) return true',
        to: 'if (registered.some(uri => requested.startsWith(uri))) return true',
      },
    ],
    caughtBy: { file: OAUTH, tests: 'a page and never a redirect' },
  },
  'a request belongs to no user': {
    edits: [{ file: REQUESTS, from: '(r.user_id is null or r.user_id', to: '(true or r.user_id' }],
    caughtBy: { file: OAUTH, tests: 'every failure of a consent' },
  },
  'a request belongs to no browser': {
    edits: [{ file: REQUESTS, from: 'and r.browser_sha256 =', to: "and 'x' <>" }],
    caughtBy: { file: OAUTH, tests: 'every failure of a consent' },
  },
  'a request never expires': {
    edits: [{ file: REQUESTS, from: ' and r.expires_at > identity_now()`', to: '`' }],
    caughtBy: { file: OAUTH, tests: 'every failure of a consent' },
  },
  'a refresh token is not replaced': {
    edits: [
      {
        file: 'identity/grants/refresh-token.ts',
        from: '? await rotate(tx, request.refreshToken, sha256, grant)',
        to: '? request.refreshToken',
      },
    ],
    caughtBy: { file: OAUTH, tests: 'the whole way' },
  },
  'a refresh token that was replaced goes on working': {
    edits: [
      {
        file: DECIDE,
        from: "if (!lostAnswer) return refuse('revoke-reused')",
        to: 'if (!lostAnswer) return { kind: "rotate" }',
      },
    ],
    caughtBy: { file: TOKENS, tests: 'fifty parallel refreshes' },
  },
  'a token for another api is taken': {
    edits: [{ file: VERIFY, from: '      audience,\n', to: '' }],
    caughtBy: { file: BEARER, tests: 'a token for another resource' },
  },
  'a token of another issuer is taken': {
    edits: [{ file: VERIFY, from: '      issuer,\n', to: '' }],
    caughtBy: { file: BEARER, tests: 'a token of another issuer' },
  },
  'an expired token is taken': {
    edits: [{ file: VERIFY, from: 'clockTolerance: CLOCK_SKEW_SECONDS', to: 'clockTolerance: 600' }],
    caughtBy: { file: BEARER, tests: 'a token that is over' },
  },
  'nobody looks at the scope': {
    edits: [
      {
        file: AUTHENTICATE,
        from: 'if (!hasScope(claims, permission)) {',
        to: 'if (claims.scopes.length === 0) {',
      },
    ],
    caughtBy: { file: BEARER, tests: 'a token of scope read' },
  },
  'nobody looks at what the user may do now': {
    edits: [{ file: AUTHENTICATE, from: 'if (!permissions.allows(permission))', to: 'if (permission.length === 0)' }],
    caughtBy: { file: BEARER, tests: 'a role bounds the token' },
  },
  'a token manages who has access': {
    edits: [
      { file: AUTHENTICATE, from: 'if (isAboutAccess(permission)) {', to: 'if (permission.length === 0) {' },
      { file: AUTHENTICATE, from: ' && !isAboutAccess(each)', to: '' },
    ],
    caughtBy: { file: BEARER, tests: 'no token changes keys' },
  },
  'a revoked grant goes on at the api': {
    edits: [{ file: AUTHENTICATE, from: 'if (claims && !tokens.isRevoked(claims.grantId))', to: 'if (claims)' }],
    caughtBy: { file: BEARER, tests: 'when the grant is revoked' },
  },
  'a revoked grant goes on at the token endpoint': {
    edits: [{ file: DECIDE, from: 'if (grant.revoked || grant.expired) return', to: 'if (grant.expired) return' }],
    caughtBy: { file: TOKENS, tests: 'revocation: either token' },
  },
  'consent is taken from any form': {
    edits: [
      {
        file: CONSENT,
        from: "  if (!hasValidCsrfToken(request, deps.identityUrl)) return sendForbidden(request, reply, 'the form is not ours')\n",
        to: '',
      },
    ],
    caughtBy: { file: OAUTH, tests: 'every failure of a consent' },
  },
  'a form may come from another site': {
    edits: [
      {
        file: 'identity/http/csrf.ts',
        from: 'if (!isSameOrigin(request, identityOrigin) || secret === null)',
        to: 'if (secret === null)',
      },
    ],
    caughtBy: { file: 'identity/sign-in/sign-in.it.test.ts', tests: 'a form sent' },
  },
  'a code never expires': {
    edits: [
      { file: CODE, from: 'expires_at <= identity_now() as expired', to: 'false as expired' },
      { file: CODE, from: ' and expires_at > identity_now() returning', to: ' returning' },
    ],
    caughtBy: { file: TOKENS, tests: 'a code is bound to its client' },
  },
  'a user shares a platform that is not theirs': {
    edits: [
      {
        file: 'identity/store/grants.ts',
        from: 'memberships.find(each => platformChoice(each) === choice)',
        to: "memberships.find(each => platformChoice(each) === choice) ?? { platformId: choice.split(':')[0] ?? '', environment: 'LIVE' as const }",
      },
    ],
    caughtBy: { file: OAUTH, tests: 'every failure of a consent' },
  },
  'a signature is not checked': {
    edits: [
      { file: VERIFY, from: 'type JWTVerifyGetKey, jwtVerify }', to: 'type JWTVerifyGetKey, decodeJwt }' },
      {
        file: VERIFY,
        from: 'const { payload } = await jwtVerify(token, keys, {',
        to: 'const [payload] = [decodeJwt(token), {',
      },
      { file: VERIFY, from: "'platforms'],\n    })", to: "'platforms'],\n    }]" },
    ],
    caughtBy: { file: BEARER, tests: 'signed with another key' },
  },
  'a token of any type is taken': {
    edits: [{ file: VERIFY, from: "      typ: 'at+jwt',\n", to: '' }],
    caughtBy: { file: BEARER, tests: 'a token of another type' },
  },
  'a token reaches whatever platform its user belongs to': {
    edits: [
      {
        file: AUTHENTICATE,
        from: 'const fitting = tenants.filter(',
        to: "const fitting = platform !== null ? [{ platformId: platform, environment: 'LIVE' as const }] : tenants.filter(",
      },
    ],
    caughtBy: { file: BEARER, tests: 'a token reaches its own platforms' },
  },
  'the model: a code redeems again': {
    edits: [{ file: DECIDE, from: "  if (code.used) return refuse('revoke-grant')\n", to: '' }],
    caughtBy: MODEL,
  },
  'the model: an expired code redeems': {
    edits: [{ file: DECIDE, from: 'if (code.expired || grant.revoked', to: 'if (grant.revoked' }],
    caughtBy: MODEL,
  },
  'the model: a code of a revoked grant redeems': {
    edits: [
      {
        file: DECIDE,
        from: 'if (code.expired || grant.revoked || grant.expired ||',
        to: 'if (code.expired || grant.expired ||',
      },
    ],
    caughtBy: MODEL,
  },
  'an address that was taken back gets its code': {
    edits: [{ file: DECIDE, from: ' || !code.isStillListed', to: '' }],
    caughtBy: { file: 'identity/grants/decide.test.ts', tests: 'a code: who knows all of it' },
  },
  'a document may be about another client': {
    edits: [
      {
        file: 'identity/client-documents/read-document.ts',
        from: "metadata['client_id'] !== clientId",
        to: "metadata['client_id'] === undefined",
      },
    ],
    caughtBy: { file: 'identity/client-documents/read-document.test.ts', tests: 'a document with another client_id' },
  },
  'the address of a client is read as a browser reads it': {
    edits: [
      {
        file: 'identity/client-documents/client-id-url.ts',
        from: 'if (url.href !== clientId) return',
        to: 'if (url.host === "") return',
      },
    ],
    caughtBy: { file: 'identity/client-documents/client-id-url.test.ts', tests: 'is refused' },
  },
  'the model: a verifier may be guessed for ever': {
    edits: [{ file: DECIDE, from: "  if (code.wrongTries >= WRONG_VERIFIERS_MAX) return refuse('nothing')\n", to: '' }],
    caughtBy: MODEL,
  },
  'the model: anybody may redeem': {
    edits: [
      {
        file: DECIDE,
        from: 'const sameAddress =',
        to: 'asked = { ...asked, clientId: grant.clientId }\n  const sameAddress =',
      },
    ],
    caughtBy: MODEL,
  },
  'the model: a stranger may end a grant': {
    edits: [
      {
        file: DECIDE,
        from: "if (!asked.verifierMatches) return refuse(code.used || code.expired ? 'nothing' : 'count-try')",
        to: "if (!asked.verifierMatches) return refuse(code.used ? 'revoke-grant' : 'count-try')",
      },
    ],
    caughtBy: MODEL,
  },
  'the model: a refresh outlives its revocation': {
    edits: [{ file: DECIDE, from: 'if (grant.revoked || grant.expired) return', to: 'if (grant.expired) return' }],
    caughtBy: MODEL,
  },
  'the model: a refresh outlives its grant': {
    edits: [{ file: DECIDE, from: 'if (grant.revoked || grant.expired) return', to: 'if (grant.revoked) return' }],
    caughtBy: MODEL,
  },
  'the model: an idle refresh token lives on': {
    edits: [{ file: DECIDE, from: '} else if (token.expired) {', to: '} else if (false) {' }],
    caughtBy: MODEL,
  },
  'the model: a lost answer is given again for ever': {
    edits: [{ file: DECIDE, from: 'token.rotated.secondsAgo <= LIFETIMES.lostAnswer && ', to: '' }],
    caughtBy: MODEL,
  },
  'the model: a lost answer is given again after its successor was used': {
    edits: [{ file: DECIDE, from: ' && !token.rotated.successorUsed', to: '' }],
    caughtBy: MODEL,
  },
  'the model: a replaced token rotates again': {
    edits: [
      {
        file: DECIDE,
        from: "return { kind: token.rotated ? 'same-successor' : 'rotate' }",
        to: "return { kind: 'rotate' }",
      },
    ],
    caughtBy: MODEL,
  },
  'the model: a refresh ignores that its user left': {
    edits: [{ file: DECIDE, from: "  if (!grant.reachesSomething) return refuse('revoke-empty')\n", to: '' }],
    caughtBy: MODEL,
  },
}
