import { Button } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'

interface Props {
  invitations: ReadonlyArray<{ id: string; email: string; accept_url?: string }>
  onClose: () => void
}

/** The links of new invitations, which are shown only now. */
export const InvitationLinks = ({ invitations, onClose }: Props) => (
  <Dialog
    title={invitations.length === 1 ? 'The invitation' : 'The invitations'}
    isOpen
    onClose={onClose}
    size="wide"
    actions={
      <Button kind="primary" onClick={onClose}>
        Done
      </Button>
    }
  >
    <p>
      Where this installation sends mail, the links are on their way. You can also pass them on yourself: each
      works once, within seven days, and is shown only now.
    </p>
    {invitations.map(({ id, email, accept_url: url }) => (
      <div key={id}>
        <h3>{email}</h3>
        <CopyBlock text={url ?? ''} label={`link for ${email}`} />
      </div>
    ))}
  </Dialog>
)
