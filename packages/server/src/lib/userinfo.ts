// The address of a repository may carry a name and a password, or a token. They are kept apart from it, since the
// address is shown to everybody who may read the pipeline.

export interface SplitAddress {
  address: string
  /** `name:password`, as it stood in the address; null: there was none. */
  userinfo: string | null
}

const withAuthority = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?(.*)$/is

/** The name of an ssh account is part of the address: `ssh://git@host/` needs a key, which is nowhere in it. */
export function splitUserinfo(text: string): SplitAddress {
  const [, scheme = '', userinfo, rest = ''] = withAuthority.exec(text) ?? []
  if (userinfo === undefined) return { address: text, userinfo: null }
  const account = /ssh:/i.test(scheme) ? userinfo.replace(/:.*$/s, '') : ''
  if (account === userinfo && account !== '') return { address: text, userinfo: null }
  return { address: `${scheme}${account === '' ? '' : `${account}@`}${rest}`, userinfo }
}

export const withoutUserinfo = (text: string): string => splitUserinfo(text).address

export function joinUserinfo(address: string, userinfo: string): string {
  const [, scheme, , rest] = withAuthority.exec(address) ?? []
  return scheme === undefined || rest === undefined ? address : `${scheme}${userinfo}@${rest}`
}
