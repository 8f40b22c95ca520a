// The URL of a repository may contain a user name and a password, or a token. They are stored separately, because
// everybody who may read the pipeline sees the URL.

interface SplitAddress {
  address: string
  /** `name:password` as in the URL. null: the URL has none. */
  userinfo: string | null
}

const withAuthority = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?(.*)$/is

/** The user name of an ssh URL is no secret and stays: `ssh://git@host/`. */
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
