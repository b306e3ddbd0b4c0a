// Written by `make reference` from the structs of the wire. A field that may be left out has
// the default that schema.json names.
declare namespace Wire {
  interface Hello {
    type: "hello";
    id: number;
    token: string;
    name?: string;
    bot?: boolean;
    level?: string;
    legal?: boolean;
    client?: string;
  }
  interface ClaimName {
    type: "claim_name";
    id: number;
    name: string;
  }
  interface CreateTable {
    type: "create_table";
    id: number;
    game: string;
    cap?: number;
    seats?: number;
    public?: boolean;
    races?: number;
    key?: string;
  }
  interface JoinTable {
    type: "join_table";
    id: number;
    table: string;
    seat?: boolean;
  }
  interface LeaveTable {
    type: "leave_table";
    id: number;
    table: string;
  }
  interface ChangeSettings {
    type: "change_settings";
    id: number;
    table: string;
    commitment?: string;
    game?: string;
    cap?: number;
    seats?: number;
    public?: boolean;
    races?: number;
  }
  interface Kick {
    type: "kick";
    id: number;
    table: string;
    player: string;
    epoch?: number;
  }
  interface LockTable {
    type: "lock_table";
    id: number;
    table: string;
    race?: string;
    locked?: boolean;
  }
  interface AllowReady {
    type: "allow_ready";
    id: number;
    table: string;
    player: string;
  }
  interface Ready {
    type: "ready";
    id: number;
    table: string;
    commitment: string;
    nonce_hash: string;
  }
  interface NotReady {
    type: "not_ready";
    id: number;
    table: string;
  }
  interface Start {
    type: "start";
    id: number;
    table: string;
    race?: string;
  }
  interface Reveal {
    type: "reveal";
    id: number;
    table: string;
    commitment?: string;
    nonce: string;
  }
  interface MakeMove {
    type: "move";
    id: number;
    race: string;
    after: number;
    move: string;
  }
  interface CashOut {
    type: "cash_out";
    id: number;
    race: string;
    after?: number;
  }
  interface EndRace {
    type: "end_race";
    id: number;
    race: string;
  }
  interface NextRace {
    type: "next_race";
    id: number;
    table: string;
    race?: string;
  }
  interface React {
    type: "react";
    id: number;
    table: string;
    reaction: string;
  }
  interface HandOver {
    type: "hand_over";
    id: number;
    table: string;
    player: string;
  }
  interface AddBot {
    type: "add_bot";
    id: number;
    table: string;
    level: string;
    key: string;
  }
  interface OfferBots {
    type: "offer_bots";
    id: number;
    levels: string[];
    free: number;
  }
  interface ListTables {
    type: "list_tables";
    id: number;
    follow?: boolean;
  }
  interface GetLeaderboard {
    type: "get_leaderboard";
    id: number;
    game: string;
    ranking?: string;
    period?: string;
    bots?: boolean;
    offset?: number;
    limit?: number;
    around_me?: boolean;
    follow?: boolean;
  }
  interface GetRecord {
    type: "get_record";
    id: number;
    race: string;
  }
  interface GetPar {
    type: "get_par";
    id: number;
    race: string;
  }
  interface Heartbeat {
    type: "heartbeat";
    id: number;
    active?: boolean;
  }
  interface EnterOpen {
    type: "enter_open";
    id: number;
    open: string;
  }
  interface CreateChallenge {
    type: "create_challenge";
    id: number;
    game: string;
    race?: string;
    key: string;
  }
  interface GetOpen {
    type: "get_open";
    id: number;
    open: string;
  }
  interface Welcome {
    type: "welcome";
    re?: number;
    player: string;
    name: string | null;
    bot: boolean;
    now: number;
    server: string;
    node: string;
    games: string[];
    table?: string;
    owner?: boolean;
    durability?: string;
  }
  interface NameClaimed {
    type: "name_claimed";
    re?: number;
    name: string;
  }
  interface Done {
    type: "done";
    re?: number;
  }
  interface Refused {
    type: "refused";
    re?: number;
    code: string;
    message: string;
    retry?: boolean;
    wait?: number;
    board?: BoardView;
  }
  interface BoardView {
    race: string;
    count: number;
    view: View;
    banked: number;
    net: number;
    state: string;
    head: string;
    legal?: string[];
  }
  interface View {
    stock: number;
    waste?: string;
    reserve?: number;
    reserve_top?: string;
    up?: number[];
    down?: number[];
    columns?: string[];
    face_down?: number[];
    base?: number;
    passes?: number;
  }
  interface Snapshot {
    type: "snapshot";
    re?: number;
    table: Table;
    now: number;
    board?: BoardView;
    standings?: Standing[];
    outcome?: Outcome;
    match?: Match;
  }
  interface Table {
    code: string;
    version: number;
    host: string;
    phase: string;
    settings: TableSettings;
    race: string;
    rules: number;
    commitment: string;
    seats: Seat[];
    call_until?: number;
    racers?: Racer[];
    reveal_by?: number;
    start_at?: number;
    deadline?: number;
    ranked?: boolean;
    notice?: string;
    locked?: boolean;
    last_racer?: string;
    end_from?: number;
    votes?: string[];
    bots?: string[];
    previous?: Ended;
    open?: string;
  }
  interface TableSettings {
    game: string;
    cap: number;
    seats: number;
    public: boolean;
    races?: number;
  }
  interface Seat {
    player: string;
    name: string;
    bot?: boolean;
    level?: string;
    ready?: boolean;
    connected?: boolean;
    races?: number;
    wins?: number;
    net?: number;
    voids?: number;
    blocked?: boolean;
    epoch?: number;
    owner?: boolean;
  }
  interface Racer {
    player: string;
    name: string;
    bot?: boolean;
    nonce_hash: string;
    ghost?: boolean;
  }
  interface Ended {
    race: string;
    digest: string;
    reason?: string;
    blamed?: string[];
  }
  interface Standing {
    player: string;
    place: number;
    banked: number;
    net: number;
    state: string;
    head: string;
  }
  interface Outcome {
    race: string;
    game: string;
    results: Result[];
    seed: string;
    nonces: { [key: string]: string };
    digest: string;
    ranked?: boolean;
  }
  interface Result {
    player: string;
    place: number;
    banked: number;
    net: number;
    state: string;
    moves: number;
    head: string;
    reached?: number;
    ended?: number;
  }
  interface Match {
    races: number;
    finished: string[];
    rows: MatchRow[];
  }
  interface MatchRow {
    player: string;
    name: string;
    bot?: boolean;
    results: MatchResult[];
  }
  interface MatchResult {
    race: string;
    place: number;
    net: number;
  }
  interface TableChanged {
    type: "table_changed";
    re?: number;
    table: Table;
    now: number;
  }
  interface MatchChanged {
    type: "match";
    re?: number;
    table: string;
    match: Match | null;
  }
  interface BoardChanged {
    type: "board";
    re?: number;
    board: BoardView;
    place?: number;
    entries?: string[];
    start_at?: number;
    deadline?: number;
    now?: number;
  }
  interface Standings {
    type: "standings";
    re?: number;
    race: string;
    standings: Standing[];
  }
  interface RaceOver {
    type: "race_over";
    re?: number;
    outcome: Outcome;
  }
  interface Tables {
    type: "tables";
    re?: number;
    tables: TableSummary[];
  }
  interface TableSummary {
    code: string;
    game: string;
    cap: number;
    host: string;
    phase: string;
    seated: number;
    seats: number;
  }
  interface Leaderboard {
    type: "leaderboard";
    re?: number;
    game: string;
    ranking: string;
    period: string;
    key: string;
    bots: boolean;
    total: number;
    offset: number;
    rows: LeaderboardRow[];
    me?: LeaderboardRow;
  }
  interface LeaderboardRow {
    rank: number;
    player: string;
    name: string;
    value: number;
    net?: number;
    elapsed?: number;
    race?: string;
    races?: number;
    rivals?: number;
    doubt?: number;
  }
  interface Record {
    type: "record";
    re?: number;
    race: string;
    text: string;
  }
  interface Par {
    type: "par";
    re?: number;
    race: string;
    banked: number;
    moves: string[];
  }
  interface Alive {
    type: "alive";
    re?: number;
    now: number;
  }
  interface Announcement {
    type: "announcement";
    re?: number;
    text: string;
  }
  interface Reacted {
    type: "reacted";
    re?: number;
    table: string;
    player: string;
    reaction: string;
  }
  interface OpenRaceShown {
    type: "open_race";
    re?: number;
    open: OpenRace;
    days?: Day[];
  }
  interface OpenRace {
    id: string;
    kind: string;
    game: string;
    rules: number;
    cap: number;
    opened: number;
    closes: number;
    by?: string;
    commitment?: string;
    entrants?: number;
    mine?: string;
    results?: OpenResult[];
    counts?: number[];
    climb?: number[];
    middle?: number[];
    streak?: number;
    digest?: string;
  }
  interface OpenResult {
    player: string;
    name: string;
    bot?: boolean;
    banked: number;
    net: number;
    state: string;
    elapsed: number;
    place?: number;
    young?: boolean;
  }
  interface Day {
    open: string;
    commitment: string;
  }
  interface BotWanted {
    type: "bot_wanted";
    re?: number;
    table: string;
    level: string;
    key: string;
  }
  interface SeatLost {
    type: "seat_lost";
    re?: number;
    table: string;
    reason: string;
  }
  interface ReplayedRace {
    race: string;
    game: string;
    rules: number;
    start_at: number;
    cap: number;
    ranked: boolean;
    deal: string;
    banked: number;
    boards: ReplayedBoard[];
  }
  interface ReplayedBoard {
    player: string;
    name: string;
    bot: boolean;
    place: number;
    banked: number;
    net: number;
    state: string;
    reached: number | null;
    entries: ReplayedEntry[];
    left_out: number;
  }
  interface ReplayedEntry {
    at: number;
    number: number;
    entry: string;
    position: string;
    banked: number;
  }
  type Command =
    | Hello
    | ClaimName
    | CreateTable
    | JoinTable
    | LeaveTable
    | ChangeSettings
    | Kick
    | LockTable
    | AllowReady
    | Ready
    | NotReady
    | Start
    | Reveal
    | MakeMove
    | CashOut
    | EndRace
    | NextRace
    | React
    | HandOver
    | AddBot
    | OfferBots
    | ListTables
    | GetLeaderboard
    | GetRecord
    | GetPar
    | Heartbeat
    | EnterOpen
    | CreateChallenge
    | GetOpen
  type Event =
    | Welcome
    | NameClaimed
    | Done
    | Refused
    | Snapshot
    | TableChanged
    | MatchChanged
    | BoardChanged
    | Standings
    | RaceOver
    | Tables
    | Leaderboard
    | Record
    | Par
    | Alive
    | Announcement
    | Reacted
    | OpenRaceShown
    | BotWanted
    | SeatLost
}
