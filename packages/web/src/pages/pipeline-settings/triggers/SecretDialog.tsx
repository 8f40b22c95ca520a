import { Button } from '../../../parts/Button.tsx'
import { CopyBlock } from '../../../parts/Copy.tsx'
import { Dialog } from '../../../parts/dialogs/Dialog.tsx'
import type { Trigger } from './queries.ts'

export interface NewSecret {
  trigger: Trigger
  /** null: somebody chose it, or there is none. */
  secret: string | null
}

/** What the sender is to be given. */
export const SecretDialog = ({ trigger, secret, onClose }: NewSecret & { onClose: () => void }) => (
  <Dialog
    title={`Where ${trigger.name} is sent`}
    isOpen
    onClose={onClose}
    actions={
      <Button kind="primary" onClick={onClose}>
        Done
      </Button>
    }
  >
    <p>The sender posts JSON to this address:</p>
    <CopyBlock text={trigger.address} label="address of the trigger" />
    {secret !== null && (
      <>
        <p>This is its secret. Copy it now: it is not shown again.</p>
        <CopyBlock text={secret} label="secret" />
      </>
    )}
  </Dialog>
)
