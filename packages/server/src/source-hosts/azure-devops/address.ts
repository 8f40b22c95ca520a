// Addresses of repositories: `https://dev.azure.com/org/project/_git/repo`, `git@ssh.dev.azure.com:v3/org/project/repo`,
// `https://org.visualstudio.com/project/_git/repo` and, on servers, `https://host/tfs/collection/project/_git/repo`.
// Projects and repositories may have spaces, which addresses have as %20.

/** Below the address of the host; null: the path has no project or no repository. */
export function apiPath(repository: string): string | null {
  const parts = repository.split('/').filter((part) => part !== '')
  if (parts[0] === 'v3') {
    const [, organization, project, name] = parts
    return name === undefined ? null : pathOf([organization ?? '', project ?? ''], name)
  }
  const at = parts.indexOf('_git')
  const name = parts[at + 1]
  return at < 1 || name === undefined ? null : pathOf(parts.slice(0, at), name)
}

const pathOf = (before: readonly string[], name: string): string =>
  `/${[...before, '_apis', 'git', 'repositories', name].map((part) => encodeURIComponent(decoded(part))).join('/')}`

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The spellings of an address: one is for https, and one for ssh. */
export function addressesOf({
  remoteUrl,
  sshUrl,
}: {
  remoteUrl: string | null
  sshUrl: string | null
}): string[] {
  const [, organization, project, name] =
    /^https:\/\/(?:[^@/]*@)?dev\.azure\.com\/([^/]+)\/([^/]+)\/_git\/([^/]+)$/.exec(remoteUrl ?? '') ?? []
  const ssh = name === undefined ? null : `git@ssh.dev.azure.com:v3/${organization}/${project}/${name}`
  return [remoteUrl, sshUrl ?? ssh].flatMap((address) => address ?? [])
}
