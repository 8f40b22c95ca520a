// One key for all spellings of a repository's URL: git@host:a/b.git, ssh://git@host:2222/a/b, https://user@host/a/b/ …

/** Hosts with another name for SSH. */
const HOSTS: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
  'ssh.dev.azure.com': 'dev.azure.com',
}

/** `absolute` makes a local path absolute. */
export function repositoryKey(url: string, absolute: (path: string) => string): string {
  const { host, path } = split(url.trim())
  if (host === '') return withoutEnding(absolute(path))
  const name = host.toLowerCase().replace(/^www\./, '')
  const known = HOSTS[name] ?? name
  return `${known}/${hostedPath(known, withoutEnding(path)).toLowerCase()}`
}

/** The host is empty for a local path. Ports are left out: those of SSH and HTTP differ. */
function split(url: string): { host: string; path: string } {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(url) ?? []
  if (scheme?.toLowerCase() === 'file') return { host: '', path: rest.replace(/^localhost(?=\/)/, '') }
  if (scheme !== undefined) {
    const [, host = '', path = ''] = /^(?:[^/@]*@)?(\[[^\]]+\]|[^/:]*)(?::\d*)?(?:\/(.*))?$/.exec(rest) ?? []
    return { host, path }
  }
  // scp's form, unless a slash comes before the colon.
  const [, host, path = ''] = /^(?:[^/@]*@)?(\[[^\]]+\]|[^/:]+):(.*)$/.exec(url) ?? []
  return host === undefined ? { host: '', path: url } : { host, path }
}

function withoutEnding(path: string): string {
  return path.replace(/\/+$/, '').replace(/\.git$/i, '')
}

function hostedPath(host: string, path: string): string {
  const plain = path.replace(/^\/+/, '')
  if (host === 'dev.azure.com') return plain.replace(/^v3\//, '').replace(/\/_git\//, '/')
  // Bitbucket Server has it in URLs of HTTP only.
  return plain.replace(/^scm\//, '')
}
