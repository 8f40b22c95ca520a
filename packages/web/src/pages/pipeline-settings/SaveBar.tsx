import { Button } from '../../parts/Button.tsx'
import styles from './page.module.css'

interface Props {
  isChanged: boolean
  isSaving: boolean
  error: Error | null
  /** Why it cannot be saved. */
  disabledReason?: string | undefined
}

export const SaveBar = ({ isChanged, isSaving, error, disabledReason }: Props) => (
  <div className={styles.save}>
    <Button
      kind="primary"
      isWrite
      type="submit"
      isBusy={isSaving}
      disabled={!isChanged || isSaving || disabledReason !== undefined}
      title={disabledReason}
    >
      Save
    </Button>
    {error !== null && (
      <p role="alert" className={styles.refused}>
        {error.message}
      </p>
    )}
  </div>
)
