import { useQuery } from '@tanstack/react-query'
import { Page } from '../../parts/Page.tsx'
import { Denied, NotLoaded } from '../../parts/States.tsx'
import { userQuery } from '../../shell/queries.ts'
import { installationQuery } from './queries.ts'
import { Whole } from './Whole.tsx'

export function InstallationPage() {
  const user = useQuery(userQuery())
  const may = user.data?.viewer?.may.see_installation
  return (
    <Page title="Installation" subtitle="The servers, their database and their store, as they are now.">
      {user.data === undefined && <NotLoaded query={user} />}
      {may === true && <Content />}
      {may === false && (
        <Denied>
          Only operators may open it, who have signed in with a password or a link. The command “millrace user
          operator” makes a person one.
        </Denied>
      )}
    </Page>
  )
}

function Content() {
  const installation = useQuery(installationQuery())
  if (installation.data === undefined) return <NotLoaded query={installation} />
  return <Whole installation={installation.data} />
}
