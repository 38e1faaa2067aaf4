BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('b67add76a3','daemon','login3','submit','fb40264f478ebb3ddf58d7c872d178fff8650e268344424c5053eeb9f69fc3d4',1.79600462216792917252e+09,'root',1.79859662216792917256e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0018');
CREATE TABLE archives (
	name TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	began FLOAT NOT NULL, 
	latest FLOAT NOT NULL, 
	jobs INTEGER NOT NULL, 
	first_job INTEGER, 
	last_job INTEGER, 
	lines_size INTEGER NOT NULL, 
	swf_size INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79600461983349204064e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79600461983392810814e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, planned FLOAT, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1796004620.18157,'vm',1.79600462022813940048e+09,1.79600462022813940048e+09,0,NULL,'',100000000003570417,NULL);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79600462044827866555e+09,'vm',1.79600462047339844706e+09,1796004620.48445,3,'exit','',100000000003304138,NULL);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79600462089759778981e+09,'vm',1.79600462106106638915e+09,1796004621.06445,0,NULL,'',100000000006295623,NULL);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.796004620912528038e+09,'vm',1.79600462104874658585e+09,1.79600462104874658585e+09,0,NULL,'',100000000006295623,NULL);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.79600462164432859418e+09,'vm',1.79600462168559861183e+09,1.79600462168559861183e+09,0,NULL,'',100000000001904301,NULL);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79600462245583510391e+09,'vm',1796004622.47645,NULL,NULL,NULL,'RUNNING',100000000006815190,NULL);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79600462391191911695e+09,'vm',1.79600462404444980619e+09,NULL,NULL,NULL,'RUNNING',100000000005616187,NULL);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79600462391426873203e+09,'vm',1.79600462404844975466e+09,NULL,NULL,NULL,'RUNNING',100000000005616187,NULL);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79600462435308241846e+09,'vm',1.79600462438044977189e+09,NULL,NULL,NULL,'RUNNING',100000000005199197,NULL);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.7960046246432485581e+09,'vm',1.79600462466044974319e+09,NULL,NULL,NULL,'RUNNING',100000000008929398,NULL);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79600462014771199226e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79600462014771199226e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79600462014771199226e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79600462019874167448e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79600462025377511981e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79600462025377511981e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79600462025377511981e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79600462042682933812e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79600462042682933812e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79600462042682933812e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79600462045539832111e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79600462048295474049e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79600462058672761915e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79600462058672761915e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79600462086822652819e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79600462086822652819e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79600462089064145084e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79600462089064145084e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79600462089064145084e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79600462091900277142e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(21,1.79600462091900277142e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(22,1.79600462091900277142e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79600462096071314811e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79600462099330043796e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79600462104199218747e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.7960046210521471501e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.7960046210521471501e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1.79600462108712792402e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1.79600462108712792402e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79600462108712792402e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79600462138705086702e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.7960046214846897125e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.7960046214846897125e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79600462161455392837e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79600462161455392837e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2], "files_in": 0.0}');
INSERT INTO "events" VALUES(36,1.79600462162825322146e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79600462162825322146e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79600462165488409995e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79600462170853877072e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79600462170853877072e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79600462172931075099e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79600462172931075099e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79600462243928885464e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79600462243928885464e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79600462243928885464e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79600462245986437805e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79600462248708271978e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79600462382945036884e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.79600462382945036884e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79600462389127159116e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79600462390698981281e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79600462390698981281e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79600462392786431307e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(54,1.79600462393092751497e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(55,1.79600462393092751497e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79600462397233939177e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79600462397950959205e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79600462400830364231e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79600462406479549409e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79600462407806539533e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79600462434561848647e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79600462434561848647e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79600462434561848647e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79600462435496234896e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.7960046243849635124e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79600462463800883295e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79600462463800883295e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79600462463800883295e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79600462464998316767e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.79600462467539024355e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79600462490008735659e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1796004625.012,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79600462508886075021e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79600462516672897336e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79600462524573278423e+09,14,0,'submitted','{"user": "root", "hold": false, "dependency": "afterok:3,afterok:9"}');
INSERT INTO "events" VALUES(76,1.79600462683871459957e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','991e6030');
INSERT INTO "facts" VALUES('key','c063e62af815d690f21f2adec8a9c73e');
INSERT INTO "facts" VALUES('batch','cd63ff270221a6c4');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, uncertain TEXT, shape JSON, closed JSON, dependency JSON, array JSON, "of" INTEGER, task INTEGER, max_latency FLOAT, inputs JSON, split JSON, joins INTEGER, siblings INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79600462014771199226e+09,1,1.79600462014771199226e+09,1,0,0,1.79600462022813940048e+09,1.79600462025377511981e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79600462042682933812e+09,2,1.79600462042682933812e+09,1,0,1,1.79600462047339844706e+09,1.79600462058672761915e+09,3,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79600462086822652819e+09,3,1.79600462086822652819e+09,1,0,0,1.79600462104199218747e+09,1.79600462108712792402e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79600462138705086702e+09,0,0.0,0,0,0,NULL,1.7960046214846897125e+09,NULL,NULL,NULL,'root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79600462161455392837e+09,4,1.79600462161455392837e+09,1,0,0,1.79600462168559861183e+09,1.79600462172931075099e+09,0,NULL,NULL,'',1,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"staged": 10, "files": []}',NULL,NULL,0);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79600462243928885464e+09,5,1.79600462243928885464e+09,1,0,0,1796004622.47645,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79600462382945036884e+09,6,1.79600462382945036884e+09,1,0,0,1.79600462400830364231e+09,NULL,NULL,1.79600825400830364222e+09,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79600462434561848647e+09,7,1.79600462434561848647e+09,1,0,0,1.79600462438044977189e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79600462463800883295e+09,8,1.79600462463800883295e+09,1,0,0,1.79600462466044974319e+09,NULL,NULL,NULL,'cancel','root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79600462490008735659e+09,9,1.79600462490008735659e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1796004625.012,10,1796004625.012,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79600462508886075021e+09,11,1.79600462508886075021e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79600462516672897336e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(14,'root','job.sh','QUEUED','','[2]','null','',NULL,NULL,3600,1.79600462524573278423e+09,12,1.79600462524573278423e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,'{"on": "afterok:3,afterok:9", "kill": false, "never": ""}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, claim TEXT DEFAULT '' NOT NULL, seconds FLOAT DEFAULT '0' NOT NULL, renewals BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	broker TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	caller JSON NOT NULL, 
	body JSON NOT NULL, 
	expires FLOAT NOT NULL, 
	taken BIGINT, 
	answered BOOLEAN DEFAULT 0 NOT NULL, 
	answer JSON, 
	PRIMARY KEY (id)
);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','b15f5136-317c-431a-aac9-47336ad73a1b','2.83cf2414430818a0e8cc59d8',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','80b85ad6-e21a-4411-9560-1338fda12b2f','2.a2ff2305e12dbd849b14e5b2',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["3", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','1b506b97-4312-491f-92b9-669a24a8c54d','2.a38f3e58386c69e4f6617126',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','0bc03f5c-d287-49a5-ae3e-1841b9ae14ad','2.9f774725fa268012dedbb772',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','c3c9848c-535a-401c-9f15-7a4ea606a6ea','2.29f66bd0e9f2eca62e34e167',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','30c2cdf8-e898-4451-a8df-169d14049e57','2.39acd8ccbe65c9b96d3090b6',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','b4ff5689-073c-4962-9004-dab5143eba62','2.043e1b074ffb39f274b5db27',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','2.fe09d3436f0498698628f2a5',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','c307690b-e659-421a-9d6d-0bbfc29cdf7d','2.668880b39e67cff7ac759947',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','b0948041-939c-44fc-b80e-3f0ce9f2b54a','2.fd1ec205ab06a2c0b2e357c0',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','5877eba0-bea4-41c6-9fdd-0465209e8ff9','2.b5b31d77985e2fcbd001961a',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','5b8d400e-1146-42e7-9f2f-fbc32b9fcae1','2.5471329fa912a507c79a2438',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','7b614758-4b41-449a-aad1-d38f62ba0c96','2.08f1b7afd716d2025fc874a5',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(14,'root','e8caac5c-eee4-44c6-9b10-495b7953460f','2.82ac1d5507bc402f32b12202',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
CREATE INDEX events_by_job ON events (job);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
CREATE INDEX jobs_live ON jobs (state) WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX jobs_ended ON jobs (end_time, id, user, state) WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX components_not_gone ON components (cluster) WHERE phase != 'gone' OR step != '';
CREATE INDEX jobs_of_arrays ON jobs ("of", task) WHERE "of" IS NOT NULL;
CREATE INDEX jobs_that_join ON jobs (joins, id) WHERE joins IS NOT NULL;
COMMIT;
