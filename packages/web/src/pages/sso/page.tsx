import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button, ExternalLinkButton } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { NotLoaded } from '../../parts/States.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { deleteSso, ssoQuery } from './queries.ts'
import { SsoForm } from './SsoForm.tsx'

export function SsoPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/sso' })
  return (
    <OrganizationSettings
      org={org}
      name="sso"
      subtitle="People sign in at your provider, with OpenID Connect."
    >
      <Content org={org} />
    </OrganizationSettings>
  )
}

function Content({ org }: { org: string }) {
  const queryClient = useQueryClient()
  const sso = useQuery(ssoQuery(org))
  const [isDeleting, setDeleting] = useState(false)
  if (sso.data === undefined) return <NotLoaded query={sso} />
  const { issuer, redirect_uri: redirectUri, sign_in_url: signInUrl } = sso.data
  return (
    <>
      <p className="muted">Register this address at the provider, where people come back from it:</p>
      <CopyBlock text={redirectUri} label="redirect address" />
      <SsoForm org={org} stored={sso.data} />
      {issuer !== null && (
        <>
          <Notice action={<TryLink org={org} />}>
            Try to sign in before anybody else does, also while members cannot yet. You see what the provider
            says and who you would be. Nothing is changed.
          </Notice>
          <p className="muted">Members sign in here:</p>
          <CopyBlock text={signInUrl} label="sign-in address" />
          <div>
            <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete single sign-on…
            </Button>
          </div>
        </>
      )}
      {isDeleting && (
        <ConfirmDialog
          title="Delete single sign-on?"
          action="Delete it"
          onConfirm={async () => {
            await deleteSso(org)
            await queryClient.invalidateQueries({ queryKey: ssoQuery(org).queryKey })
            showToast('Single sign-on is deleted.')
          }}
          onClose={() => setDeleting(false)}
        >
          <p>
            Members stay, and sign in with a password or a link. Who they are at the provider is forgotten,
            and so is the client secret.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

/** A page of the server, in a tab of its own. */
const TryLink = ({ org }: { org: string }) => (
  <ExternalLinkButton href={`/-/sso/${org}/test`}>Try to sign in</ExternalLinkButton>
)
