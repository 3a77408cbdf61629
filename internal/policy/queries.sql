-- Lock serialises the transactions that set a policy: version and time of the next
-- one depend on the last one.
-- name: Lock :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof policy', 0));

-- name: Last :one
SELECT version, effective_at FROM policy ORDER BY version DESC LIMIT 1;

-- name: Insert :exec
INSERT INTO policy (version, id, effective_at, recycled_days, swapped_hours, ported_hours, flagged_days, quarantine_days, notice_days,
    lifecycle_freshness_hours, sim_freshness_hours, port_freshness_hours, false_assurance_percent,
    sim_report_hours, port_report_hours, bar_report_hours, churn_report_days, backdating_days, hold_percent, personal_years,
    warm_up_days, warm_up_percent, undocumented_percent,
    time_zone, clearing_house, purposes, note, created_at)
VALUES (@version, @id, @effective_at, @recycled_days, @swapped_hours, @ported_hours, @flagged_days, @quarantine_days, @notice_days,
    @lifecycle_freshness_hours, @sim_freshness_hours, @port_freshness_hours, @false_assurance_percent,
    @sim_report_hours, @port_report_hours, @bar_report_hours, @churn_report_days, @backdating_days, @hold_percent, @personal_years,
    @warm_up_days, @warm_up_percent, @undocumented_percent,
    @time_zone, @clearing_house, @purposes, @note, @created_at);

-- name: ByVersion :one
SELECT * FROM policy WHERE version = @version;

-- name: Current :one
SELECT * FROM policy WHERE effective_at <= @at ORDER BY effective_at DESC, version DESC LIMIT 1;

-- name: History :many
SELECT * FROM policy ORDER BY version;
