// Tokens for GitHub: one that the connection stores, or installation tokens of a GitHub App.
import type { HostToken } from '../host.ts'
import { storedToken } from '../api.ts'
import { apiHeaders } from './api-headers.ts'
import { appOf, evictInstallationToken, installationToken } from './installation-token.ts'

const common = { gitUsername: 'x-access-token', apiHeaders }

export const token: HostToken = { ...common, ...storedToken }

/** Jobs never share these tokens. */
const holder = 'server'

export const appToken: HostToken = {
  ...common,
  credential: 'app',
  async find(tools, connection, repository, permissions) {
    const app = appOf(connection)
    return app && installationToken(tools, app, repository, permissions, holder)
  },
  evict(tools, connection, repository, permissions) {
    const app = appOf(connection)
    if (app !== null) evictInstallationToken(tools, app, repository, permissions, holder)
  },
}
