/** How long the link of an invitation works. The identity host sends it; the api tells when another is needed. */
export const INVITATION_DAYS = 7
