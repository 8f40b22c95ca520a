import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { LinkButton } from '../../../parts/Button.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { organizationQuery } from '../../../shell/queries.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import { People } from './People.tsx'
import { Teams } from './Teams.tsx'

export function AccessPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/access' })
  const { org } = address
  const { data: organization } = useQuery(organizationQuery(org))
  return (
    <PipelineSettings
      address={address}
      name="access"
      subtitle="Teams give their members access to the pipeline. Administrators may do everything."
    >
      {({ pipeline, may }) => (
        <>
          {pipeline.visibility === 'public' && (
            <Notice>This pipeline is public: everybody sees it, also without signing in.</Notice>
          )}
          {organization?.teams_enabled === false && (
            <Notice
              action={
                may.organization.administer && (
                  <LinkButton to="/organizations/$org/settings/teams" params={{ org }}>
                    Teams
                  </LinkButton>
                )
              }
            >
              Teams are off: every member sees and builds every pipeline. What is set here holds once they are
              on.
            </Notice>
          )}
          <Teams address={address} pipeline={pipeline} mayEdit={may.edit} />
          {organization?.teams_enabled === true && <People address={address} />}
        </>
      )}
    </PipelineSettings>
  )
}
