#include <sqlite3.h>

/*
 * Whether the last connection to close leaves the write-ahead log as it is, rather than write it into the file and remove
 * it (sqlite3_db_config, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE; it is variadic, which Swift cannot call).
 */
static inline int ifc_sqlite_keep_log(sqlite3 *_Nonnull database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}
