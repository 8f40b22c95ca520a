// The address of a repository behind ssh.

export interface SshAddress {
  user: string | null
  host: string
  port: string | null
  path: string
}

/** null: another kind of address. */
export function readSshAddress(repository: string): SshAddress | null {
  if (!repository.includes('://')) {
    const [, user = null, host = '', path = ''] =
      /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/|:)(.+)$/.exec(repository) ?? []
    return host === '' || host.startsWith('-') ? null : { user, host, port: null, path }
  }
  const url = URL.canParse(repository) ? new URL(repository) : null
  if (url?.protocol !== 'ssh:' || !/^[\w.-]+$/.test(url.hostname) || url.hostname.startsWith('-')) return null
  const user = decodeURIComponent(url.username)
  if (!/^[\w.-]*$/.test(user) || user.startsWith('-') || url.pathname.length < 2) return null
  return {
    user: user === '' ? null : user,
    host: url.hostname,
    port: url.port === '' ? null : url.port,
    path: decodeURIComponent(url.pathname),
  }
}
