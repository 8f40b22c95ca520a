// Tokens for GitHub: one that the connection stores, or installation tokens of a GitHub App.
import type { HostToken } from '../host.ts'
import { storedToken } from '../api.ts'
import { apiHeaders } from './api-headers.ts'
import { appOf, evictInstallationToken, installationToken } from './installation-token.ts'

const gitUsername = 'x-access-token'

export const token = storedToken(gitUsername, apiHeaders)

/** Jobs never share these tokens. */
const holder = 'server'

export const appToken: HostToken = {
  credential: 'app',
  gitUsername,
  apiHeaders,
  async find(tools, connection, repository, permissions) {
    const app = appOf(connection)
    return app && installationToken(tools, app, repository, permissions, holder)
  },
  evict(tools, connection, repository, permissions) {
    const app = appOf(connection)
    if (app !== null) evictInstallationToken(tools, app, repository, permissions, holder)
  },
}
