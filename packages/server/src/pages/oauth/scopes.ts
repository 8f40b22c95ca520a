import { scopes, type Scope } from '../../auth/scopes.ts'

/** What programs can ask for. With `write_user` one could make tokens of its own, which stay when its token is revoked. */
export const programScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'write_user')

/** Scopes that are not known, or not for programs, are left out. */
export const readScopes = (text: string): Scope[] => {
  const asked = new Set(text.split(' '))
  return programScopes.filter((scope) => asked.has(scope))
}
